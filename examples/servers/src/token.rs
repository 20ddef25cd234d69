//! A token issuer: `POST /token {"sub": "alice"}` returns a JWT (RS256), `GET /jwks.json` the public key.

use std::future::Future;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use data_encoding::BASE64URL_NOPAD as BASE64URL;
use serde::Deserialize;
use serde_json::{Value, json};
use zariz::batcher::{self, Batcher, Job, WhenFull};
use zariz::rsa::{Algorithm, Hash, PrivateKey, PublicKey};

use crate::http::{Refused, limited, soon};

/// The lifetime of a token in seconds.
const LIFETIME: u64 = 3600;
/// The longest body, in bytes.
pub const MAX_BODY: usize = 4096;

/// The signer: zariz, or another library to compare with.
pub trait Sign: Send + Sync + 'static {
    /// The RS256 signature of a message.
    fn sign(&self, message: &[u8]) -> impl Future<Output = Result<Vec<u8>, Refused>> + Send;
}

/// A key whose signatures share batches with those of other requests.
#[derive(Debug)]
pub struct Batched {
    batcher: Batcher,
    key: PrivateKey,
}

impl Sign for Batched {
    async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Refused> {
        let job = Job::sign(&self.key, Algorithm::RS256, message).map_err(batcher::Error::Rsa)?;
        Ok(self.batcher.submit(soon(job)).await?)
    }
}

/// A key and its published form.
#[derive(Debug)]
pub struct Issuer<S> {
    signer: S,
    /// The part of a token before its claims, which is always the same.
    header: String,
    jwks: String,
}

/// An issuer whose requests share batches. When too many wait, more are refused.
#[must_use]
pub fn by_zariz(key: &PrivateKey) -> Issuer<Batched> {
    over(Batcher::builder().when_full(WhenFull::Refuse).build(), key)
}

/// An issuer over a given batcher.
#[must_use]
pub fn over(batcher: Batcher, key: &PrivateKey) -> Issuer<Batched> {
    Issuer::new(Batched { batcher, key: key.clone() }, key.public_key())
}

impl<S: Sign> Issuer<S> {
    /// An issuer with any signer for that key.
    pub fn new(signer: S, key: &PublicKey) -> Self {
        let number = |bytes: &[u8]| BASE64URL.encode(bytes);
        let (n, e) = (number(&key.n()), number(&key.e()));
        // The key's name is the SHA-256 of these members in this order, without spaces (RFC 7638).
        let thumbprint = Hash::Sha256.digest(&[format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#).as_bytes()]);
        let kid = BASE64URL.encode(&thumbprint);
        let header = json!({ "alg": "RS256", "typ": "JWT", "kid": kid }).to_string();
        let jwk = json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid, "n": n, "e": e });
        Self {
            signer,
            header: BASE64URL.encode(header.as_bytes()),
            jwks: json!({ "keys": [jwk] }).to_string(),
        }
    }

    /// The issuer's routes.
    pub fn routes(self) -> Router {
        let routes = Router::new().route("/token", post(token::<S>)).route("/jwks.json", get(jwks::<S>));
        limited(routes.with_state(Arc::new(self)), MAX_BODY)
    }
}

/// The body of a request.
#[derive(Deserialize)]
struct Wanted {
    sub: String,
}

async fn token<S: Sign>(
    State(issuer): State<Arc<Issuer<S>>>,
    body: Result<Json<Wanted>, JsonRejection>,
) -> Result<impl IntoResponse, Refused> {
    let Json(Wanted { sub }) = body.map_err(|error| Refused(error.status(), error.body_text()))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| {
        eprintln!("the clock is before 1970");
        Refused(StatusCode::INTERNAL_SERVER_ERROR, "the server's clock is wrong".into())
    })?;
    let claims = json!({ "sub": sub, "iat": now.as_secs(), "exp": now.as_secs() + LIFETIME }).to_string();
    let signed = format!("{}.{}", issuer.header, BASE64URL.encode(claims.as_bytes()));
    let signature = issuer.signer.sign(signed.as_bytes()).await?;
    let token = format!("{signed}.{}", BASE64URL.encode(&signature));
    let answer: Value = json!({ "access_token": token, "token_type": "Bearer", "expires_in": LIFETIME });
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(answer)))
}

async fn jwks<S: Sign>(State(issuer): State<Arc<Issuer<S>>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/jwk-set+json")], issuer.jwks.clone())
}
