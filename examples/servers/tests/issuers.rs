//! Both issuers: signatures are right, wrong requests are refused, and other requests are not affected.

use std::future::pending;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::RETRY_AFTER;
use axum::http::{Method, Request, StatusCode};
use axum::response::Response;
use data_encoding::{BASE64URL, BASE64URL_NOPAD};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt;
use zariz::batcher::{Batcher, WhenFull};
use zariz::rsa::{Algorithm, Hash, PrivateKey, PublicKey, blind};
use zariz_servers::blind::{Issuer, MOST, VARIANT};
use zariz_servers::http::{PATIENCE, Refused};
use zariz_servers::peers::AwsLc;
use zariz_servers::token;

const KEY: &[u8] = include_bytes!("../../../crates/cli/keys/bench-2048.pem");

fn key() -> PrivateKey {
    PrivateKey::parse(KEY).expect("a key")
}

async fn ask_for_response(routes: &Router, method: Method, path: &str, body: impl Into<Body>) -> Response {
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    routes.clone().oneshot(request.body(body.into()).expect("a request")).await.expect("an answer")
}

async fn ask(routes: &Router, method: Method, path: &str, body: impl Into<Body>) -> (StatusCode, Vec<u8>) {
    let response = ask_for_response(routes, method, path, body).await;
    let status = response.status();
    (status, to_bytes(response.into_body(), 1 << 20).await.expect("a body").to_vec())
}

async fn post(routes: &Router, path: &str, body: impl Into<Body>) -> (StatusCode, Vec<u8>) {
    ask(routes, Method::POST, path, body).await
}

fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(body)))
}

/// The claims of a token, after checking its signature with the published key.
fn claims(token: &str, jwks: &Value) -> Value {
    let decoded = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).expect("base64url");
    let jwk = &jwks["keys"][0];
    let number = |name: &str| decoded(jwk[name].as_str().expect("a number"));
    let key = PublicKey::from_components(&number("n"), &number("e")).expect("a key");
    let (signed, signature) = token.rsplit_once('.').expect("a token");
    key.verify(Algorithm::RS256, signed.as_bytes(), &decoded(signature)).expect("it is right");
    let (header, claims) = signed.split_once('.').expect("a token");
    assert_eq!(json_of(&decoded(header)), json!({ "alg": "RS256", "typ": "JWT", "kid": jwk["kid"] }));
    json_of(&decoded(claims))
}

#[tokio::test]
async fn tokens_are_signed_with_the_published_key() {
    let key = key();
    let by_peer = |pool| AwsLc::new(&key.to_der().expect("a key"), pool).expect("a key");
    for routes in [
        token::by_zariz(&key).routes(),
        token::Issuer::new(by_peer(false), key.public_key()).routes(),
        token::Issuer::new(by_peer(true), key.public_key()).routes(),
    ] {
        let (status, jwks) = ask(&routes, Method::GET, "/jwks.json", "").await;
        assert_eq!(status, StatusCode::OK);
        let jwks = json_of(&jwks);
        let names: Vec<_> = (0..20).map(|i| format!("caller \"{i}\"")).collect();
        let asked = names.iter().map(|name| post(&routes, "/token", json!({ "sub": name }).to_string()));
        for ((status, answer), name) in join_all(asked).await.iter().zip(&names) {
            assert_eq!(*status, StatusCode::OK);
            let answer = json_of(answer);
            let claims = claims(answer["access_token"].as_str().expect("a token"), &jwks);
            assert_eq!(
                (claims["sub"].as_str(), answer["expires_in"].as_u64()),
                (Some(&name[..]), Some(3600))
            );
            assert_eq!(
                claims["exp"].as_u64().expect("a time") - claims["iat"].as_u64().expect("a time"),
                3600
            );
        }
    }
}

#[tokio::test]
async fn wrong_requests_for_tokens_are_refused() {
    let routes = token::by_zariz(&key()).routes();
    let long = json!({ "sub": "x".repeat(token::MAX_BODY) }).to_string();
    for (body, expected) in [
        ("", StatusCode::BAD_REQUEST),
        ("{", StatusCode::BAD_REQUEST),
        (r#"{"sub": 5}"#, StatusCode::UNPROCESSABLE_ENTITY),
        (r#"{"name": "alice"}"#, StatusCode::UNPROCESSABLE_ENTITY),
        (&long, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let (status, answer) = post(&routes, "/token", body.to_owned()).await;
        assert_eq!(status, expected, "{body:.20}");
        assert!(json_of(&answer)["error"].is_string());
    }
    assert_eq!(ask(&routes, Method::GET, "/token", "").await.0, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(post(&routes, "/", "").await.0, StatusCode::NOT_FOUND);
}

/// When the queue is full, requests are refused at once, with the time to come again; the others are
/// answered.
#[tokio::test]
async fn requests_that_find_the_queue_full_are_refused() {
    let batcher = || Batcher::builder().threads(1).capacity(1).when_full(WhenFull::Refuse).build();
    let blind_key = blind::PrivateKey::new(VARIANT, &key()).expect("a key");
    let public = blind_key.public_key().clone();
    let tokens = token::over(batcher(), &key()).routes();
    let jwks = json_of(&ask(&tokens, Method::GET, "/jwks.json", "").await.1);
    let names: Vec<_> = (0..65).map(|i| format!("caller {i}")).collect();
    let blinded: Vec<_> = names.iter().map(|name| public.blind(name.as_bytes()).expect("blinded")).collect();
    let is_token = |i: usize, answer: &[u8]| {
        let answer = json_of(answer);
        claims(answer["access_token"].as_str().expect("a token"), &jwks)["sub"] == names[i]
    };
    let is_signature = |i: usize, signed: &[u8]| {
        let signature = public.finalize(names[i].as_bytes(), signed, &blinded[i].inverse);
        signature.is_ok_and(|signature| public.verify(names[i].as_bytes(), &signature).is_ok())
    };
    let asks_for_token = |i: usize| json!({ "sub": names[i] }).to_string().into_bytes();
    type IsRight<'a> = &'a dyn Fn(usize, &[u8]) -> bool;
    let issuer = Issuer::over(batcher(), blind_key).expect("an issuer").routes();
    for (routes, path, bodies, is_right) in [
        (tokens, "/token", (0..65).map(asks_for_token).collect::<Vec<_>>(), &is_token as IsRight),
        (
            issuer,
            "/blind-signatures",
            blinded.iter().map(|blinded| blinded.message.to_vec()).collect(),
            &is_signature as IsRight,
        ),
    ] {
        let asked =
            bodies[..64].iter().map(|body| ask_for_response(&routes, Method::POST, path, body.clone()));
        let mut count = [0; 2];
        for (i, answer) in join_all(asked).await.into_iter().enumerate() {
            let (status, comes_again) = (answer.status(), answer.headers().contains_key(RETRY_AFTER));
            let signed = status == StatusCode::OK;
            assert!(signed || status == StatusCode::SERVICE_UNAVAILABLE, "{path}: {status}");
            assert_eq!(comes_again, !signed, "{path}");
            count[usize::from(signed)] += 1;
            let body = to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
            assert!(!signed || is_right(i, &body), "{path}: the answer to another");
        }
        assert!(count[0] > 0 && count[1] > 0, "{path}: {count:?} refused and signed");
        let (status, body) = post(&routes, path, bodies[64].clone()).await;
        assert!(status == StatusCode::OK && is_right(64, &body), "{path}: the queue is empty again");
    }
}

/// A signer that never ends.
struct Never;

impl token::Sign for Never {
    async fn sign(&self, _: &[u8]) -> Result<Vec<u8>, Refused> {
        pending().await
    }
}

/// The clock is paused: when nothing else is left to do, it jumps to the next timeout.
#[tokio::test(start_paused = true)]
async fn requests_that_take_too_long_are_refused() {
    let routes = token::Issuer::new(Never, key().public_key()).routes();
    let start = Instant::now();
    let (status, answer) = post(&routes, "/token", json!({ "sub": "alice" }).to_string()).await;
    assert_eq!((status, start.elapsed().as_secs()), (StatusCode::REQUEST_TIMEOUT, PATIENCE.as_secs()));
    assert!(json_of(&answer)["error"].as_str().expect("a reason").contains("10s"));
}

/// The flow of RFC 9578 for a client: directory, request, response, token.
#[tokio::test]
async fn a_client_of_privacy_pass_gets_a_token() {
    let routes =
        Issuer::new(blind::PrivateKey::new(VARIANT, &key()).expect("a key")).expect("an issuer").routes();
    let (_, directory) = ask(&routes, Method::GET, "/.well-known/private-token-issuer-directory", "").await;
    let directory = json_of(&directory);
    let token_key = directory["token-keys"][0]["token-key"].as_str().expect("a key");
    let spki = BASE64URL.decode(token_key.as_bytes()).expect("base64url");
    let public = blind::PublicKey::parse(VARIANT, &spki).expect("a key");
    let key_id = Hash::Sha256.digest(&[&spki])[31];

    let blinded = public.blind(b"a token's input").expect("blinded");
    let request = [&[0, 2, key_id], &blinded.message[..]].concat();
    let uri = directory["issuer-request-uri"].as_str().expect("a path");
    let (status, signed) = post(&routes, uri, request.clone()).await;
    assert_eq!(status, StatusCode::OK);
    let signature = public.finalize(b"a token's input", &signed, &blinded.inverse).expect("a signature");
    public.verify(b"a token's input", &signature).expect("it is right");

    let changed = |at: usize, by: u8| {
        let mut request = request.clone();
        request[at] ^= by;
        request
    };
    for wrong in
        [changed(0, 1), changed(1, 3), changed(2, 1), request[1..].to_vec(), [&request[..], &[0]].concat()]
    {
        assert_eq!(post(&routes, uri, wrong).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }
}

/// A number that is not below the modulus is refused; others at the same time are signed.
#[tokio::test]
async fn blinded_messages_are_below_the_modulus() {
    let routes =
        Issuer::new(blind::PrivateKey::new(VARIANT, &key()).expect("a key")).expect("an issuer").routes();
    let (public, path) =
        (blind::PublicKey::new(VARIANT, key().public_key()).expect("a key"), "/blind-signatures");
    let messages: Vec<_> = (0..MOST as u8).map(|i| [i; 30]).collect();
    let blinded: Vec<_> = messages.iter().map(|message| public.blind(message).expect("blinded")).collect();
    let all = blinded.iter().map(|blinded| &blinded.message[..]).collect::<Vec<_>>().concat();
    let modulus = public.n();
    let below = {
        let mut number = modulus.clone();
        *number.last_mut().expect("a number") -= 1;
        number
    };
    let with_one = |number: &[u8]| [&all[..256], number, &all[256..512]].concat();
    let (signed, at, above, just_below) = tokio::join!(
        post(&routes, path, all.clone()),
        post(&routes, path, with_one(&modulus)),
        post(&routes, path, with_one(&[0xff; 256])),
        post(&routes, path, with_one(&below)),
    );
    assert_eq!([at.0, above.0], [StatusCode::UNPROCESSABLE_ENTITY; 2]);
    assert!(json_of(&at.1)["error"].as_str().expect("a reason").contains("modulus"), "{}", json_of(&at.1));
    assert_eq!((just_below.0, just_below.1.len()), (StatusCode::OK, 3 * 256));
    assert_eq!((signed.0, signed.1.len()), (StatusCode::OK, MOST * 256));
    for ((message, blinded), signed) in messages.iter().zip(&blinded).zip(signed.1.chunks(256)) {
        let signature = public.finalize(message, signed, &blinded.inverse).expect("a signature");
        public.verify(message, &signature).expect("it is right");
    }
    let wrong =
        [Vec::new(), vec![1; 255], vec![1; 257], [&all[..], &[0]].concat(), vec![0; (MOST + 1) * 256]];
    for (body, expected) in wrong.into_iter().zip([422, 422, 422, 413, 413]) {
        assert_eq!(post(&routes, path, body).await.0.as_u16(), expected);
    }
}
