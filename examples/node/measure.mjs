// The processor time of RSA signatures in Node, for each way to make them. Run it with and without zariz:
//
//     npm install jose
//     UV_THREADPOOL_SIZE=32 node measure.mjs
//     OPENSSL_CONF=/etc/zariz/openssl.cnf UV_THREADPOOL_SIZE=32 node --openssl-shared-config measure.mjs
//
// Each line is the median of several rounds: microseconds of processor time for a signature.
import { createPrivateKey, generateKeyPairSync, sign, verify, webcrypto } from "node:crypto";
import { SignJWT } from "jose";

const bits = Number(process.argv[2] ?? 2048);
const count = Number(process.argv[3] ?? 320);
const rounds = 9;
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
const pem = privateKey.export({ type: "pkcs8", format: "pem" });
const der = privateKey.export({ type: "pkcs8", format: "der" });
const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
const webKey = await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]);
const message = (i) => Buffer.from(`message ${i}`);
const withCallback = (key) => (i) =>
  new Promise((done, failed) => sign("sha256", message(i), key, (error, made) => (error ? failed(error) : done(made))));

const ways = {
  "crypto.sign with a callback": withCallback(privateKey),
  "the same, the key parsed for each call": (i) => withCallback(createPrivateKey(pem))(i),
  "crypto.sign without a callback": async (i) => sign("sha256", message(i), privateKey),
  "WebCrypto, subtle.sign": async (i) => Buffer.from(await webcrypto.subtle.sign(algorithm.name, webKey, message(i))),
  "jose, SignJWT": async (i) => new SignJWT({ sub: `user ${i}` }).setProtectedHeader({ alg: "RS256" }).sign(webKey),
};

const isRight = (made, i) => {
  if (typeof made !== "string") return verify("sha256", message(i), publicKey, made);
  const [header, claims, signature] = made.split(".");
  return verify("sha256", Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, "base64url"));
};

for (const [name, way] of Object.entries(ways)) {
  const times = [];
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage();
    const made = await Promise.all(Array.from({ length: count }, (_, i) => way(i)));
    const { user, system } = process.cpuUsage(before);
    if (round > 0) times.push((user + system) / count); // the first round warms up
    if (!made.every((it, i) => i % 40 || isRight(it, i))) throw new Error(`${name}: a signature is wrong`);
  }
  times.sort((one, other) => one - other);
  console.log(`RSA-${bits} ${name}: ${times[Math.floor(rounds / 2)].toFixed(0)} µs`);
}
