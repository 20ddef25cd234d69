# Uses what dist/ has for 64-bit Arm, under qemu: `sh arm.sh SYSTEM PROGRAMS`, in a folder with what was
# unpacked: tree, wheel, jar and goproxy. SYSTEM is a folder with Debian's programs for Arm, PROGRAMS that with ours.
set -eu
system=$1
programs=$2
here=$PWD
# Runs a program of Arm, which finds the libraries of the archive.
arm() {
    qemu-aarch64-static -L "$system" -E "LD_LIBRARY_PATH=$here/tree/lib:$here/tree/lib/zariz/crypto-mb" "$@"
}
zariz=tree/bin/zariz
arm $zariz info
arm $zariz keygen --bits 2048 --out key.pem --public-out public.pem
printf 'one\ntwo\nthree\n' >messages
arm $zariz sign --key key.pem --lines messages --out signatures
arm $zariz verify --key public.pem --lines --signatures signatures messages
printf 'one\ntwo\nfour\n' >messages
if arm $zariz verify --quiet --key public.pem --lines --signatures signatures messages >/dev/null 2>&1; then
    echo "a wrong signature passes"
    exit 1
fi

# The module, by the configuration that comes with it. On Arm it signs only with the setting `engine`.
sed "s,^module = .*,module = $here/tree/lib/zariz/zariz.so\nengine = auto,; s,^counters = .*,counters = $here/counters," \
    tree/share/doc/zariz/openssl.cnf >openssl.cnf
grep -qx "engine = auto" openssl.cnf
with_module() {
    arm -E "OPENSSL_CONF=$here/openssl.cnf" "$@"
}
with_module "$system/usr/bin/openssl" list -providers | grep zariz
with_module "$system/usr/bin/openssl" dgst -sha256 -sign key.pem -out signature messages
openssl dgst -sha256 -verify public.pem -signature signature messages
with_module $zariz info --provider tree/lib/zariz/zariz.so --json | grep '"private_operations": 1'

# The libraries for C.
export PKG_CONFIG_PATH="$here/tree/lib/pkgconfig"
cc() {
    aarch64-linux-gnu-gcc -Wall -Werror "$@"
}
cc "$programs/sign.c" -o shared $(pkg-config --cflags --libs zariz)
cc "$programs/sign.c" -o static $(pkg-config --cflags zariz) tree/lib/libzariz.a -lpthread -ldl -lm -lgcc_s
cc "$programs/power.c" -o power $(pkg-config --cflags --libs zariz_crypto_mb)
for program in shared static power; do
    arm ./$program
done

arm -E "PYTHONPATH=$here/wheel" "$system/usr/bin/python3.11" "$programs/sign.py"

javac --release 17 -cp jar -d classes "$programs/Sign.java"
# Its compilers would take longer here than they save.
arm "$system/usr/lib/jvm/java-17-openjdk-arm64/bin/java" -Xint -cp jar:classes Sign

# The Go module, from its proxy.
rm -rf go
mkdir go
cp "$programs/main.go" go
cd go
export GOPROXY="file://$here/goproxy" GONOSUMDB=example.org/zariz GOMODCACHE="$here/gomodcache" GOFLAGS=-modcacherw
export GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc
go mod init example.org/program
go get "example.org/zariz@$(cat "$here/goproxy/example.org/zariz/@v/list")"
go build -o program .
arm ./program >said
cat said
if grep crypto/rsa said; then
    echo "the program has no engine"
    exit 1
fi
