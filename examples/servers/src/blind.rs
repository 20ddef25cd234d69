//! A blind issuer: it signs what it cannot read (RSABSSA, RFC 9474), for Privacy Pass (RFC 9578, publicly
//! verifiable tokens) and for clients of its own.
//!
//! | | request | answer |
//! |---|---|---|
//! | `POST /token-request` | a TokenRequest of RFC 9578 | its blind signature |
//! | `POST /blind-signatures` | up to 64 blinded messages, one after the other | their blind signatures, in order |
//! | `GET /.well-known/private-token-issuer-directory` | | the public key |
//!
//! A number that is not below the modulus is refused. Whether a client may have a token is not decided here.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use data_encoding::BASE64URL;
use futures_util::future::try_join_all;
use serde_json::json;
use zariz::batcher::{Batcher, Job, WhenFull};
use zariz::rsa::blind::{PrivateKey, Variant};
use zariz::rsa::{Hash, KeyError};

use crate::http::{Refused, limited, soon};

/// The variant of Privacy Pass.
pub const VARIANT: Variant = Variant::PssDeterministic;
/// The most messages in a request.
pub const MOST: usize = 64;
/// The type of publicly verifiable tokens.
const TOKEN_TYPE: u16 = 2;

/// A key, and the batches of its requests.
#[derive(Debug)]
pub struct Issuer {
    key: PrivateKey,
    batcher: Batcher,
    /// The last byte of the SHA-256 of the public key, by which clients select the key.
    key_id: u8,
    directory: String,
}

impl Issuer {
    /// An issuer with a key that is used for nothing else. When too many requests wait, more are refused.
    ///
    /// # Errors
    /// Those of the key's encoding.
    pub fn new(key: PrivateKey) -> Result<Self, KeyError> {
        Self::over(Batcher::builder().when_full(WhenFull::Refuse).build(), key)
    }

    /// An issuer over a given batcher.
    ///
    /// # Errors
    /// Those of the key's encoding.
    pub fn over(batcher: Batcher, key: PrivateKey) -> Result<Self, KeyError> {
        let public = key.public_key().to_der()?;
        let token_key = json!({ "token-type": TOKEN_TYPE, "token-key": BASE64URL.encode(&public) });
        let directory =
            json!({ "issuer-request-uri": "/token-request", "token-keys": [token_key] }).to_string();
        let key_id = Hash::Sha256.digest(&[&public]).last().copied().unwrap_or_default();
        Ok(Self { key, batcher, key_id, directory })
    }

    /// The issuer's routes.
    pub fn routes(self) -> Router {
        let max_body = MOST * self.key.size();
        let routes = Router::new()
            .route("/token-request", post(token_request))
            .route("/blind-signatures", post(blind_signatures))
            .route("/.well-known/private-token-issuer-directory", get(directory));
        limited(routes.with_state(Arc::new(self)), max_body)
    }

    /// The blind signatures of blinded messages, in order. They share batches, also with other requests. If
    /// one message is refused, all are.
    async fn sign(&self, blinded: &[u8]) -> Result<Vec<u8>, Refused> {
        let jobs = blinded.chunks(self.key.size()).map(|message| Job::blind_sign(&self.key, message));
        Ok(try_join_all(jobs.map(|job| self.batcher.submit(soon(job)))).await?.concat())
    }
}

/// The body, or why it cannot be read.
type Body = Result<Bytes, BytesRejection>;

fn read(body: Body) -> Result<Bytes, Refused> {
    body.map_err(|error| Refused(error.status(), error.body_text()))
}

fn unprocessable(why: String) -> Refused {
    Refused(StatusCode::UNPROCESSABLE_ENTITY, why)
}

/// The type, the key and one blinded message (RFC 9578 section 6.1).
async fn token_request(State(issuer): State<Arc<Issuer>>, body: Body) -> Result<impl IntoResponse, Refused> {
    let (body, size) = (read(body)?, issuer.key.size());
    let Some((&[high, low, key_id], message)) =
        body.split_first_chunk().filter(|(_, message)| message.len() == size)
    else {
        return Err(unprocessable(format!("a token request has {} bytes, not {}", 3 + size, body.len())));
    };
    let token_type = u16::from_be_bytes([high, low]);
    if token_type != TOKEN_TYPE {
        return Err(unprocessable(format!(
            "the token's type is {token_type}; this issuer only has {TOKEN_TYPE}"
        )));
    }
    if key_id != issuer.key_id {
        return Err(unprocessable("the request is for another key; the directory has the one in use".into()));
    }
    Ok(([(header::CONTENT_TYPE, "application/private-token-response")], issuer.sign(message).await?))
}

async fn blind_signatures(
    State(issuer): State<Arc<Issuer>>,
    body: Body,
) -> Result<impl IntoResponse, Refused> {
    let (body, size) = (read(body)?, issuer.key.size());
    if body.is_empty() || body.len() % size != 0 {
        return Err(unprocessable(format!(
            "a blinded message has {size} bytes, and the body has {}",
            body.len()
        )));
    }
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], issuer.sign(&body).await?))
}

async fn directory(State(issuer): State<Arc<Issuer>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/private-token-issuer-directory")], issuer.directory.clone())
}
