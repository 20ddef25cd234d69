# Uses what is in /dist on a bare Debian without Rust, with the programs in /programs: `sh in-root.sh PART`,
# where the part is a function below. It runs in a root of its own, with its own processes.
set -eu
export DEBIAN_FRONTEND=noninteractive
mount -t proc proc /proc
# As files of this system are named.
tarball=/dist/zariz-*-$(uname -m)-linux-gnu.tar.xz
deb=_*_$(dpkg --print-architecture).deb
# Ends all where a command does not fail: `set -e` takes no notice of `!`.
must_fail() {
    if "$@"; then
        echo "did not fail: $*"
        exit 1
    fi
}
must_fail command -v cargo
must_fail command -v rustc
# These install a compiler, and come last.
case "$1" in
archive | libraries | go_module) ;;
*) must_fail command -v cc ;;
esac
# Services that packages would start: none.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
install_packages() {
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
}
# Signs some messages with the program in PATH, and verifies them.
sign_and_verify() {
    cd "$(mktemp -d)"
    zariz keygen --bits 2048 --out key.pem --public-out public.pem
    printf 'one\ntwo\nthree\n' >messages
    zariz sign --key key.pem --lines messages --out signatures
    zariz verify --key public.pem --lines --signatures signatures messages
    printf 'one\ntwo\nfour\n' >messages
    must_fail zariz verify --quiet --key public.pem --lines --signatures signatures messages >/dev/null 2>&1
}

archive() {
    install_packages xz-utils
    (cd /dist && sha256sum --check --quiet SHA256SUMS)
    tar -xJf $tarball --strip-components=1 -C /usr/local
    ldd --version | head -n 1
    zariz --version
    zariz info
    sign_and_verify
    # Every symbol of the module is there, without OpenSSL.
    ldd -r /usr/local/lib/zariz/zariz.so >/tmp/ldd 2>&1
    must_fail grep -E 'not found|undefined' /tmp/ldd
    for file in man/man1/zariz.1 man/man1/zariz-sign.1 bash-completion/completions/zariz \
        zsh/site-functions/_zariz doc/zariz/LICENSE-MIT doc/zariz/dependencies.txt doc/zariz/zariz.$(uname -m).cdx.json; do
        test -s "/usr/local/share/$file"
    done
    bash -c '. /usr/local/share/bash-completion/completions/zariz && complete -p zariz'
    install_packages gcc libc6-dev pkg-config
    ldconfig
    compile
    # Nothing of it may be there for the parts that follow.
    tar -tf $tarball | sed 's,^[^/]*/,/usr/local/,' | grep -v '/$' | xargs rm
    ldconfig
}

# Compiles C programs with the libraries as pkg-config says, one of them also without the shared library.
compile() {
    cd "$(mktemp -d)"
    cc -Wall -Werror /programs/sign.c -o shared $(pkg-config --cflags --libs zariz)
    cc -Wall -Werror /programs/sign.c -o static $(pkg-config --cflags zariz) \
        "$(pkg-config --variable=libdir zariz)/libzariz.a" -lpthread -ldl -lm -lgcc_s
    cc -Wall -Werror /programs/power.c -o power $(pkg-config --cflags --libs zariz_crypto_mb)
    ldd shared | grep -F libzariz.so.
    ldd power | grep -F libzariz_crypto_mb.so
    must_fail grep -F libzariz.so. static
    for program in shared static power; do
        ./$program
    done
}

wheel() {
    install_packages python3-venv
    python3 -m venv /venv
    start=$(date +%s%N)
    /venv/bin/pip install --quiet --no-index /dist/zariz-*_$(uname -m).whl
    echo "pip install took $((($(date +%s%N) - start) / 1000000)) ms"
    /venv/bin/python /programs/sign.py
}

module=/usr/lib/$(uname -m)-linux-gnu/ossl-modules/zariz.so
conf=/etc/zariz/openssl.cnf
# How many private operations the counters have.
counted() {
    OPENSSL_CONF=$conf zariz info --provider $module --json | sed -n 's/.*"private_operations": \([0-9]*\).*/\1/p'
}
# Ten handshakes with the server on a port, each of which zariz must sign.
handshakes() {
    before=$(counted)
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        curl --silent --show-error --retry 20 --retry-connrefused --retry-delay 1 --cacert /srv/site.crt \
            "https://localhost:$1/" | grep -q "Hello from $2"
    done
    now=$(counted)
    echo "$2: $((now - before)) signatures of zariz"
    test $((now - before)) = 10
}

packages() {
    install_packages haproxy nginx-light openssl curl procps /dist/zariz$deb /dist/zariz-openssl-provider$deb
    sign_and_verify
    for file in /usr/share/man/man1/zariz.1.gz /usr/share/doc/zariz/copyright /usr/share/doc/zariz/changelog.Debian.gz \
        $conf $module; do
        test -s $file
    done
    # Nothing is switched on by itself.
    openssl list -providers >/tmp/providers
    must_fail grep zariz /tmp/providers
    OPENSSL_CONF=$conf openssl list -providers | grep zariz
    openssl list -providers -provider zariz | grep zariz

    cd /srv
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout site.key -out site.crt 2>/dev/null
    cat site.crt site.key >site.pem
    cat >haproxy.cfg <<'END'
global
    user haproxy
    group haproxy
    maxconn 600
    maxsslconn 400
    ssl-provider zariz
    ssl-provider default
    ssl-propquery ?provider=zariz
    ssl-mode-async
defaults
    mode http
    timeout connect 10s
    timeout client 60s
    timeout server 60s
frontend tls
    bind 127.0.0.1:29443 ssl crt /srv/site.pem no-tls-tickets
    http-request return status 200 content-type text/plain string "Hello from haproxy\n"
END
    cat >nginx.conf <<'END'
env OPENSSL_CONF;
pid /run/nginx.pid;
events {}
http {
    server {
        listen 127.0.0.1:29444 ssl;
        ssl_certificate /srv/site.crt;
        ssl_certificate_key /srv/site.key;
        location / { default_type text/plain; return 200 "Hello from nginx\n"; }
    }
}
END
    OPENSSL_CONF=$conf haproxy -W -D -p /run/haproxy.pid -f /srv/haproxy.cfg
    OPENSSL_CONF=$conf nginx -c /srv/nginx.conf
    handshakes 29443 haproxy
    handshakes 29444 nginx

    # An upgrade keeps the administrator's configuration, and servers go on before and after a reload.
    echo '# mine' >>$conf
    upgrade zariz zariz-openssl-provider
    grep -q '# mine' $conf
    handshakes 29443 haproxy
    kill -USR2 "$(cat /run/haproxy.pid)"
    nginx -c /srv/nginx.conf -s reload
    sleep 2
    handshakes 29443 haproxy
    handshakes 29444 nginx

    pkill haproxy
    pkill nginx
    purge zariz zariz-openssl-provider
}

# Installs packages of a next version, with the same files.
upgrade() {
    for package in "$@"; do
        dpkg-deb -R /dist/$package$deb /tmp/$package
        sed -i 's/^Version: .*/&+next/; s/(= [^)]*/&+next/' /tmp/$package/DEBIAN/control
        dpkg-deb -b /tmp/$package /tmp/$package-next.deb >/dev/null
    done
    install_packages $(printf '/tmp/%s-next.deb ' "$@")
    dpkg-query -W "$@"
    test "$(dpkg-query -W -f '${Version}\n' "$@" | grep -c '+next$')" = $#
}

# Removes packages, of which nothing may be left.
purge() {
    apt-get purge -qq -y "$@" >/tmp/apt.log 2>&1
    rm -rf /tmp/*zariz*
    # Other parts have left folders in the last two.
    left=$(find / -xdev \( -path /proc -o -path /dist -o -path /venv -o -path /usr/local \) -prune -o \
        -name '*zariz*' -print)
    test -z "$left" || { echo "left after the purge: $left"; exit 1; }
    must_fail grep -rl zariz /etc
}

libraries() {
    set -- libzariz0.1 libzariz-dev zariz-crypto-mb
    install_packages gcc libc6-dev pkg-config $(printf "/dist/%s$deb " "$@")
    compile
    upgrade "$@"
    # Both were linked with the version before.
    ./shared
    ./power
    # What tools ask that package programs which are linked with it.
    grep -x 'libzariz 0.1 libzariz0.1 (>= .*)' /var/lib/dpkg/info/libzariz0.1:*.shlibs
    purge "$@"
}

# Gets the module from a proxy, without any network, for a program with the engine and one without.
go_module() {
    install_packages golang-go gcc libc6-dev xz-utils
    mkdir /srv/proxy
    tar -xJf /dist/zariz-*-go.tar.xz --strip-components=1 -C /srv/proxy
    export GOPROXY=file:///srv/proxy GONOSUMDB=example.org/zariz GOTOOLCHAIN=local
    version=$(cat /srv/proxy/example.org/zariz/@v/list)
    cd "$(mktemp -d)"
    cp /programs/main.go .
    go mod init example.org/program
    go get "example.org/zariz@$version"
    go mod verify
    go build -o with .
    ./with >/tmp/with
    cat /tmp/with
    must_fail grep crypto/rsa /tmp/with
    CGO_ENABLED=0 go build -o without .
    ./without | grep crypto/rsa
    # golang-jwt itself is not there, so nothing can be built with this one.
    go mod download "example.org/zariz/jwt@$version"
    grep -x "require example.org/zariz $version" "/srv/proxy/example.org/zariz/jwt/@v/$version.mod"
}

"$1"
