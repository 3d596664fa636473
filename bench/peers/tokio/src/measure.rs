// SPDX-License-Identifier: Apache-2.0

//! The rows of tokio, on its runtime of one thread.
//!
//! usage: bench_tokio --list | bench_tokio FAMILY SECONDS

mod harness;
mod rows;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[1..] {
        [list] if list == "--list" => rows::ROWS.iter().for_each(|row| println!("{}", row.name)),
        [family, seconds] => {
            let seconds = seconds.parse().expect("SECONDS is a number");
            for row in rows::ROWS
                .iter()
                .filter(|row| row.name.split('/').next() == Some(family))
            {
                row.print(seconds);
            }
        }
        _ => panic!("usage: bench_tokio --list | bench_tokio FAMILY SECONDS"),
    }
}
