// SPDX-License-Identifier: Apache-2.0

//! Measures processor time, as Google Benchmark does.

use std::future::Future;
use std::pin::Pin;

use tokio::runtime::Builder;

/// The processor time of this process, in seconds.
fn cpu() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// What a body has spent on how many operations.
pub struct Spent {
    began: f64,
    seconds: f64,
    operations: usize,
}

impl Spent {
    pub fn start() -> Self {
        Self {
            began: cpu(),
            seconds: 0.0,
            operations: 0,
        }
    }

    pub fn end(mut self, operations: usize) -> Self {
        self.seconds = cpu() - self.began;
        self.operations = operations;
        self
    }
}

/// Does its operation about so many times.
pub type Body = fn(usize) -> Pin<Box<dyn Future<Output = Spent> + Send>>;

pub enum Unit {
    Nanoseconds,
    PerSecond,
}

pub struct Row {
    pub name: &'static str,
    pub unit: Unit,
    pub paused: bool,
    pub body: Body,
}

impl Row {
    /// Measures for at least so long, after shorter runs that warm up, and prints a line of JSON.
    pub fn print(&self, seconds: f64) {
        let mut n = 1.0;
        let mut spent = self.run(n);
        while spent.seconds < seconds {
            let factor = 1.4 * seconds / spent.seconds;
            n *= if spent.seconds > seconds / 100.0 {
                factor
            } else {
                2.0
            };
            spent = self.run(n);
        }
        let each = spent.seconds / spent.operations as f64;
        let (value, unit) = match self.unit {
            Unit::Nanoseconds => (each * 1e9, "ns"),
            Unit::PerSecond => (1.0 / each, "/s"),
        };
        println!(
            r#"{{"name": "{}", "value": {value}, "unit": "{unit}"}}"#,
            self.name
        );
    }

    fn run(&self, n: f64) -> Spent {
        // Without its driver of sockets, which a yield would wait for when nobody else is ready.
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(self.paused)
            .build()
            .unwrap();
        let body = (self.body)(n as usize + 1);
        runtime.block_on(async { tokio::spawn(body).await.unwrap() })
    }
}
