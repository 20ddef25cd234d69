//! The token issuer with zariz beside the same with aws-lc-rs: `compare [ROUNDS [CONNECTIONS]]`, RSA-2048.
//!
//! Each server is a process on processor 0, with tokio's runtime of one thread; this process sends requests
//! from processor 1. Servers alternate in short rounds. First every connection sends requests continuously,
//! for the highest rate. Then requests arrive at half and at 0.8 of the slowest server's highest rate, and at
//! 1.2 times that of aws-lc-rs on the same thread.

use std::error::Error;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use zariz::Dispatch;
use zariz::batcher::{Batcher, WhenFull};
use zariz::rsa::PrivateKey;
use zariz_servers::load::Load;
use zariz_servers::measure::{
    CLIENT_CPU, SERVER_CPU, Server, median, pin, processor, quantile, ratio, ready,
};
use zariz_servers::peers::AwsLc;
use zariz_servers::token::{self, Issuer};

const KEY: &[u8] = include_bytes!("../../../../crates/cli/keys/bench-2048.pem");
const VARIANTS: [&str; 3] = ["zariz", "aws-lc-rs", "aws-lc-rs, spawn_blocking"];
/// The server that the others are compared with.
const PEER: usize = 1;
const ROUND: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [serve, variant] = &arguments[..]
        && serve == "serve"
    {
        pin(SERVER_CPU)?;
        return tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(server(variant));
    }
    let number = |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse::<usize>());
    let (rounds, connections) = (number(0, 20)?.max(1), number(1, 64)?.max(1));
    let servers =
        VARIANTS.iter().map(|variant| Server::start(&["serve", variant])).collect::<Result<Vec<_>, _>>()?;
    pin(CLIENT_CPU)?;
    let loads: Vec<_> = servers
        .iter()
        .map(|server| Load::post(server.address, "/token", r#"{"sub":"somebody@example.org"}"#, connections))
        .collect();
    println!("{}", processor());
    println!(
        "Engine {} of zariz; {connections} connections, {rounds} rounds of {ROUND:?}\n",
        Dispatch::Auto.main().name()
    );
    let highest = closed(&servers, &loads, rounds)?;
    let slowest = highest.iter().copied().fold(f64::INFINITY, f64::min);
    for (what, rate) in [
        ("half", slowest / 2.0),
        ("0.8 times", 0.8 * slowest),
        ("1.2 times aws-lc-rs's", 1.2 * highest[PEER]),
    ] {
        open(&loads, rounds, what, rate)?;
    }
    for (server, variant) in servers.iter().zip(VARIANTS) {
        println!("{variant}: mean batch {}", batch(server)?);
    }
    Ok(())
}

/// Rounds in which all servers alternate, each time in another order.
fn rounds<T>(
    loads: &[Load],
    rounds: usize,
    mut each: impl FnMut(&Load, usize, usize) -> std::io::Result<T>,
) -> std::io::Result<Vec<Vec<T>>> {
    let mut results: Vec<Vec<T>> = loads.iter().map(|_| Vec::new()).collect();
    for load in loads {
        load.closed(ROUND / 4)?; // warms up
    }
    for round in 0..rounds {
        for turn in 0..loads.len() {
            let which = (round + turn) % loads.len();
            results[which].push(each(&loads[which], which, round)?);
        }
    }
    Ok(results)
}

/// Measures the highest rates, and the processor time per token.
fn closed(servers: &[Server], loads: &[Load], count: usize) -> std::io::Result<Vec<f64>> {
    let measured = rounds(loads, count, |load, which, _| {
        let before = servers[which].processor_time()?;
        let (tokens, seconds) = load.closed(ROUND)?;
        Ok((tokens / seconds, (servers[which].processor_time()? - before) * 1e6 / tokens))
    })?;
    let (rates, times): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
        measured.into_iter().map(|of| of.into_iter().unzip()).unzip();
    println!(
        "| all connections ask at once | tokens a second | of aws-lc-rs's | µs of processor time a token | of aws-lc-rs's |"
    );
    println!("|---|---:|---:|---:|---:|");
    for (which, variant) in VARIANTS.iter().enumerate() {
        let (rate, time) = (&rates[which], &times[which]);
        let (of_rate, of_time) = (ratio(rate, &rates[PEER]), ratio(time, &times[PEER]));
        println!(
            "| {variant} | {:.0} | {of_rate:.2} | {:.0} | {of_time:.2} |",
            median(rate.clone()),
            median(time.clone())
        );
    }
    println!();
    Ok(rates.into_iter().map(median).collect())
}

/// Measures the response times of requests that arrive at one rate.
fn open(loads: &[Load], count: usize, what: &str, rate: f64) -> std::io::Result<()> {
    let times = rounds(loads, count, |load, _, round| load.open(rate, ROUND, 0x9e37_79b9 + round as u64))?;
    println!(
        "| Poisson arrivals, {what}: {rate:.0} a second | median, ms | 99 %, ms | 99.9 %, ms | median, of aws-lc-rs's | 99 %, of it |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    let millis =
        |round: &Vec<Duration>| round.iter().map(|time| time.as_secs_f64() * 1000.0).collect::<Vec<_>>();
    let of_rounds = |which: usize, share| {
        times[which].iter().map(|round| quantile(millis(round), share)).collect::<Vec<_>>()
    };
    for (which, variant) in VARIANTS.iter().enumerate() {
        let all: Vec<f64> = times[which].iter().flat_map(millis).collect();
        let [middle, high, highest] = [0.5, 0.99, 0.999].map(|share| quantile(all.iter().copied(), share));
        let [of_middle, of_high] =
            [0.5, 0.99].map(|share| ratio(&of_rounds(which, share), &of_rounds(PEER, share)));
        println!("| {variant} | {middle:.2} | {high:.2} | {highest:.2} | {of_middle:.2} | {of_high:.2} |");
    }
    println!();
    Ok(())
}

async fn server(variant: &str) -> Result<(), Box<dyn Error>> {
    let key = PrivateKey::parse(KEY)?;
    let batcher = Batcher::builder().when_full(WhenFull::Refuse).build();
    let routes = match variant {
        "zariz" => token::over(batcher.clone(), &key).routes(),
        _ => Issuer::new(AwsLc::new(&key.to_der()?, variant != VARIANTS[PEER])?, key.public_key()).routes(),
    };
    let mean = get(move || async move { format!("{:.1}", batcher.metrics().mean_batch()) });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    ready(listener.local_addr()?);
    Ok(axum::serve(listener, routes.merge(Router::new().route("/batch", mean))).await?)
}

/// The mean batch of a server; zero if it has no batches.
fn batch(server: &Server) -> std::io::Result<String> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(server.address)?;
    stream.write_all(b"GET /batch HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.rsplit("\r\n").next().unwrap_or_default().to_owned())
}
