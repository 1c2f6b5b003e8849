#![allow(warnings, clippy::all)]
use signpost_app::accounts::{self, CreateAccount};
use signpost_app::keys;
use signpost_domain::*;
use signpost_memory::InMemory;
use std::sync::Arc;
#[tokio::main]
async fn main() {
    let memory = InMemory::default();
    let app = Arc::new(memory.application());
    let account = accounts::create(
        &app,
        CreateAccount {
            email: Email::parse("a@b.c").unwrap(),
            name: None,
            plan: PlanName::parse("agency").unwrap(),
        },
    )
    .await
    .unwrap();
    let (_, secret) = keys::issue(&app, account.id, None).await.unwrap();
    std::fs::write("/tmp/probe.key", secret.expose()).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:18080").unwrap();
    let server = signpost_http::ApiServer::start(
        listener,
        app,
        signpost_http::ApiOptions { workers: 2.try_into().unwrap() },
    )
    .unwrap();
    let mut lines = String::new();
    let _ = tokio::task::spawn_blocking(move || std::io::stdin().read_line(&mut lines)).await;
    let t = std::time::Instant::now();
    server.stop(true).await.unwrap();
    eprintln!("stopped in {:?}", t.elapsed());
}
