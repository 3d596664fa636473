// SPDX-License-Identifier: Apache-2.0

//! The echo server on tokio: one task a connection, one thread.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const SECONDS_MAX: u64 = 120;
const BACKLOG: u32 = 1024;

async fn echo(mut peer: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        let size = peer.read(&mut buffer).await?;
        if size == 0 {
            return Ok(());
        }
        peer.write_all(&buffer[..size]).await?;
    }
}

async fn serve() -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(BACKLOG)?;
    println!("{}", listener.local_addr()?.port());
    loop {
        let (peer, _) = listener.accept().await?;
        peer.set_nodelay(true)?;
        tokio::spawn(echo(peer));
    }
}

fn main() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(SECONDS_MAX), tokio::spawn(serve())).await??
    })
}
