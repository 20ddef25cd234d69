#!/usr/bin/env bash
# Measures the OpenSSL provider by `openssl speed`, beside OpenSSL's default provider and `zariz speed`.
#
# Usage: lab/bench/provider.sh [ROUNDS [SECONDS]]      (default: 5 rounds of 2 seconds for each cell; about three minutes)
#
# Builds the provider and the program, then lets all contestants take turns, A B C A B C …: with 64 jobs, with 8, and
# without. One thread computes. A ratio is the median of the ratios of single rounds. OPENSSL_ia32cap in the environment
# hides instructions from OpenSSL, not from zariz; ENGINE chooses zariz's engine, JOBS the numbers of jobs, THREADS its setting.
# Do not use the machine meanwhile: rates of `openssl speed` are by the clock here, and those of `zariz speed` by processor time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rounds=${1:-5} seconds=${2:-2} engine=${ENGINE:-auto} jobs_list=${JOBS:-64 8 0}

release=${CARGO_TARGET_DIR:-target}/release
cargo build --release --quiet -p zariz-openssl-provider -p zariz-cli
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$release/libzariz_provider.so" "$folder/zariz.so"
cat >"$folder/openssl.cnf" <<END
openssl_conf = init
[init]
providers = providers
[providers]
zariz = zariz
default = default
[default]
activate = 1
[zariz]
module = $folder/zariz.so
threads = ${THREADS:-1}
engine = $engine
END

# Signatures and verifications per second, the last two figures of the last line.
speed() {
    openssl speed "$@" -elapsed -seconds "$seconds" rsa2048 2>"$folder/errors" | awk 'END { print $(NF-1), $NF }'
}
default() { OPENSSL_CONF=/dev/null speed "$@"; }
zariz() { OPENSSL_CONF=$folder/openssl.cnf speed -provider zariz -provider default "$@"; }
program() { # without OpenSSL around it, batches of 64
    "$release/zariz" speed rsa2048 --engine "$engine" --threads 1 --seconds "$seconds" 2>"$folder/errors" |
        awk '$1 == "rsa" { print $6, $7 }'
}

echo "$(openssl version); $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2); OPENSSL_ia32cap=${OPENSSL_ia32cap:-}; engine $engine; threads ${THREADS:-1}"
echo "$rounds rounds of $seconds s; signatures and verifications per second, RSA-2048"
echo "jobs           default     zariz     speed  z/def.  z/speed  (default provider, zariz, the program \`zariz speed\`)"
for jobs in $jobs_list; do
    options=()
    ((jobs)) && options=(-async_jobs "$jobs")
    for ((round = 0; round < rounds; round++)); do
        echo "$(default "${options[@]}") $(zariz "${options[@]}") $(program)"
    done >"$folder/rounds"
    awk -v jobs="$jobs" '
        function median(values, count,   i, j, t) {
            for (i = 2; i <= count; i++)
                for (j = i; j > 1 && values[j - 1] > values[j]; j--) { t = values[j]; values[j] = values[j - 1]; values[j - 1] = t }
            return (values[int((count + 1) / 2)] + values[int(count / 2) + 1]) / 2
        }
        function line(what, at,   i, n) {
            for (i = n = 0; i < rows; i++) {
                n++
                d[n] = cell[i, at]; z[n] = cell[i, at + 2]; p[n] = cell[i, at + 4]
                zd[n] = z[n] / d[n]; zp[n] = z[n] / p[n]
            }
            # Ratios first: sorting breaks up the rounds.
            zd_median = median(zd, n); zp_median = median(zp, n)
            printf "%4d  %-6s  %8.0f  %8.0f  %8.0f  %6.2f  %6.2f\n",
                jobs, what, median(d, n), median(z, n), median(p, n), zd_median, zp_median
        }
        { for (i = 1; i <= 6; i++) cell[NR - 1, i] = $i; rows = NR }
        END { line("sign", 1); line("verify", 2) }' "$folder/rounds"
done
