//! HTTP for a signing server: limits, refusals, and a shutdown that loses no request.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;
use zariz::batcher::{self, Job, QueueError};
use zariz::rsa;
use zeroize::Zeroizing;

/// The longest time for a request, from its head to its response, including a slow body.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Gives a job a deadline of half of [`PATIENCE`]: later, its caller may be gone before it is done.
pub fn soon<T>(job: Job<T>) -> Job<T> {
    job.with_deadline(Instant::now() + PATIENCE / 2)
}

/// A refused request: the status, and the reason.
#[derive(Debug)]
pub struct Refused(pub StatusCode, pub String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self(status, error) = self;
        let mut response = (status, axum::Json(json!({ "error": error }))).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        response
    }
}

impl From<batcher::Error> for Refused {
    /// Callers see errors that they can correct. The log has the others.
    fn from(error: batcher::Error) -> Self {
        use batcher::Error::{Queue, Rsa};
        match error {
            Rsa(rsa::Error::OutOfRange | rsa::Error::Length { .. }) => {
                Self(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
            }
            Queue(QueueError::Full | QueueError::Expired) => {
                Self(StatusCode::SERVICE_UNAVAILABLE, "too many requests wait; try again later".into())
            }
            _ => Self::failed(&error),
        }
    }
}

impl Refused {
    /// For an error that callers cannot correct; writes it to the log.
    pub fn failed(error: &dyn fmt::Display) -> Self {
        eprintln!("cannot sign: {error}");
        Self(StatusCode::INTERNAL_SERVER_ERROR, "the server cannot sign".into())
    }
}

/// The routes, with limits for the length of a body and the time of a request. A request that takes too long,
/// or whose caller is gone, leaves the batcher's queue, because its future is dropped.
pub fn limited(routes: Router, max_body: usize) -> Router {
    let in_time = async |request: Request, next: Next| match timeout(PATIENCE, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            Refused(StatusCode::REQUEST_TIMEOUT, format!("it took longer than {PATIENCE:?}")).into_response()
        }
    };
    routes.layer(DefaultBodyLimit::max(max_body)).layer(from_fn(in_time))
}

/// Serves until SIGTERM or Ctrl-C. Answers the requests under way before it returns.
///
/// # Errors
/// Those of the socket and of the signals.
pub async fn serve(address: &str, routes: Router) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let (told, end) = tokio::sync::oneshot::channel();
    let told_to_end = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        let _ = told.send(());
    };
    // A caller that never ends its request must not keep the process running.
    let too_late = async {
        let _ = end.await;
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        result = axum::serve(listener, routes).with_graceful_shutdown(told_to_end) => result,
        () = too_late => Ok(()),
    }
}

/// Reads a key file, which is wiped when dropped.
///
/// # Errors
/// Why it cannot be read.
pub fn read(file: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    std::fs::read(file).map(Zeroizing::new).map_err(|error| format!("cannot read {file}: {error}"))
}

/// The exit code of a server that has ended. If it failed, says why.
pub fn exit(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
