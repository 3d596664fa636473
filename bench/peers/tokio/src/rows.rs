// SPDX-License-Identifier: Apache-2.0

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{unconstrained, yield_now};
use tokio::time::{sleep, Sleep};

use crate::harness::{Body, Row, Spent, Unit};

const BATCH: usize = 1_000;
const TIMERS: usize = 100_000;
const SLEEPERS: usize = 1_000;
const LONGEST_NAP_MS: u64 = 1_000;

const fn row(name: &'static str, body: Body) -> Row {
    Row {
        name,
        unit: Unit::Nanoseconds,
        paused: false,
        body,
    }
}

pub const ROWS: &[Row] = &[
    row("yield/tokio/2", |n| Box::pin(yield_among(2, n))),
    row("yield/tokio/1000", |n| Box::pin(yield_among(1_000, n))),
    row("yield/tokio/10000", |n| Box::pin(yield_among(10_000, n))),
    row("spawn_finish/tokio/1000", |n| Box::pin(spawn_finish(n))),
    row("spawn_await/tokio", |n| Box::pin(spawn_await(n))),
    row("channel_round_trip/tokio", |n| {
        Box::pin(channel_round_trip(n))
    }),
    row("channel_message/tokio/128", |n| {
        Box::pin(channel_message(n))
    }),
    row("cancelled_timers/tokio", |n| Box::pin(cancelled_timers(n))),
    Row {
        name: "simulated_sleepers/tokio/1000",
        unit: Unit::PerSecond,
        paused: true,
        body: |n| Box::pin(simulated_sleepers(n)),
    },
];

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn counted() -> usize {
    COUNT.with(Cell::get)
}

fn count() {
    COUNT.with(|count| count.set(count.get() + 1));
}

fn random(bound: u64) -> u64 {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(1) };
    }
    STATE.with(|state| {
        // xorshift64*
        let mut word = state.get();
        word ^= word >> 12;
        word ^= word << 25;
        word ^= word >> 27;
        state.set(word);
        ((word.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) * bound) >> 32
    })
}

async fn yield_among(tasks: usize, n: usize) -> Spent {
    let end = counted() + 10 * tasks + n;
    let yield_until = |end| async move {
        while counted() < end {
            count();
            yield_now().await;
        }
    };
    let others: Vec<_> = (1..tasks).map(|_| tokio::spawn(yield_until(end))).collect();
    yield_until(end - n).await;
    let (spent, before) = (Spent::start(), counted());
    yield_until(end).await;
    let spent = spent.end(counted() - before);
    for other in others {
        other.await.unwrap();
    }
    spent
}

/// Tasks run in the order in which they were spawned: when the last has ended, all have.
async fn spawn_finish(n: usize) -> Spent {
    let (spent, before) = (Spent::start(), counted());
    while counted() - before < n {
        for _ in 1..BATCH {
            tokio::spawn(async { count() });
        }
        tokio::spawn(async { count() }).await.unwrap();
    }
    let operations = counted() - before;
    assert_eq!(operations % BATCH, 0);
    spent.end(operations)
}

async fn spawn_await(n: usize) -> Spent {
    let spent = Spent::start();
    for _ in 0..n {
        tokio::spawn(async { count() }).await.unwrap();
    }
    spent.end(n)
}

async fn channel_round_trip(n: usize) -> Spent {
    let (there, mut there_receiver) = mpsc::channel(1);
    let (back, mut back_receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(value) = there_receiver.recv().await {
            back.send(value).await.unwrap();
        }
    });
    let spent = Spent::start();
    let mut value = 0;
    while value < n {
        there.send(value).await.unwrap();
        value = back_receiver.recv().await.unwrap() + 1;
    }
    spent.end(n)
}

async fn channel_message(n: usize) -> Spent {
    let (sender, mut receiver) = mpsc::channel(128);
    tokio::spawn(async move {
        for value in 0..n {
            sender.send(value).await.unwrap();
        }
    });
    let spent = Spent::start();
    let mut received = 0;
    while receiver.recv().await.is_some() {
        received += 1;
    }
    spent.end(received)
}

/// Where a timer is, again and again: cancelled when it is dropped.
type Slot = Pin<Box<Option<Sleep>>>;

/// Arms all timers, each with its first poll.
struct Arm<'a>(&'a mut [Slot]);

impl Future for Arm<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        for slot in self.0.iter_mut() {
            let span = Duration::from_secs(3600) + Duration::from_nanos(random(1_000_000_000));
            slot.set(Some(sleep(span)));
            assert!(slot
                .as_mut()
                .as_pin_mut()
                .unwrap()
                .poll(context)
                .is_pending());
        }
        Poll::Ready(())
    }
}

async fn cancelled_timers(n: usize) -> Spent {
    let mut slots: Vec<Slot> = (0..TIMERS).map(|_| Box::pin(None)).collect();
    // Unconstrained, since a poll that is over the task's budget arms nothing.
    unconstrained(Arm(&mut slots)).await; // Their memory is there now.
    let spent = Spent::start();
    let mut cancelled = 0;
    while cancelled < n {
        slots.iter_mut().for_each(|slot| slot.set(None));
        unconstrained(Arm(&mut slots)).await;
        cancelled += TIMERS;
    }
    spent.end(cancelled)
}

/// Naps have as many lengths as there are sleepers: timers have a resolution of a millisecond.
async fn simulated_sleepers(n: usize) -> Spent {
    let spent = Spent::start();
    let naps = n / SLEEPERS + 1;
    let sleepers: Vec<_> = (0..SLEEPERS)
        .map(|_| {
            tokio::spawn(async move {
                for _ in 0..naps {
                    sleep(Duration::from_millis(random(LONGEST_NAP_MS))).await;
                }
            })
        })
        .collect();
    for sleeper in sleepers {
        sleeper.await.unwrap();
    }
    spent.end(naps * SLEEPERS)
}
