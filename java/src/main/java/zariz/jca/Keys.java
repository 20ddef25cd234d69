package zariz.jca;

import java.lang.ref.Cleaner;
import java.lang.ref.WeakReference;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.interfaces.RSAMultiPrimePrivateCrtKey;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.interfaces.RSAPublicKey;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The native keys for Java's key objects. A key object is read once. Its native key is wiped when the object
 * is collected.
 */
final class Keys {
    /** A native key: its handle, and the length of its modulus. */
    record Loaded(long handle, int bits) {
        int size() {
            return (bits + 7) / 8;
        }
    }

    private static final ConcurrentHashMap<Identity, Loaded> LOADED = new ConcurrentHashMap<>();
    private static final Cleaner CLEANER = Cleaner.create();

    private Keys() {}

    static Loaded of(PrivateKey key) throws InvalidKeyException {
        check(key);
        if (key.isDestroyed()) {
            forget(new Identity(key));
            throw new InvalidKeyException("the key was destroyed");
        }
        Loaded known = LOADED.get(new Identity(key));
        return known != null ? known : keep(key, load(key));
    }

    static Loaded of(PublicKey key) throws InvalidKeyException {
        check(key);
        Loaded known = LOADED.get(new Identity(key));
        if (known != null) {
            return known;
        }
        if (!(key instanceof RSAPublicKey rsa)) {
            throw new InvalidKeyException("the key does not show its modulus: it is no RSAPublicKey");
        }
        byte[] n = bytes(rsa.getModulus());
        byte[] e = bytes(rsa.getPublicExponent());
        return keep(key, loaded(new Request(Request.Operation.LOAD_PUBLIC, 0, n, e)));
    }

    private static void check(Key key) throws InvalidKeyException {
        if (key == null) {
            throw new InvalidKeyException("there is no key");
        }
        String algorithm = key.getAlgorithm();
        if (!"RSA".equalsIgnoreCase(algorithm) && !"RSASSA-PSS".equalsIgnoreCase(algorithm)) {
            throw new InvalidKeyException("the key is for " + algorithm + ", not for RSA");
        }
    }

    private static Loaded load(PrivateKey key) throws InvalidKeyException {
        if (key instanceof RSAMultiPrimePrivateCrtKey) {
            throw new InvalidKeyException("the key has more than two primes; zariz supports two");
        }
        if (key instanceof RSAPrivateCrtKey rsa) {
            byte[] numbers = numbers(rsa);
            try {
                return loaded(new Request(Request.Operation.LOAD_NUMBERS, 0, numbers, new byte[0]));
            } finally {
                Arrays.fill(numbers, (byte) 0);
            }
        }
        byte[] encoded = "PKCS#8".equals(key.getFormat()) ? key.getEncoded() : null;
        if (encoded == null) {
            throw new InvalidKeyException("the key shows neither its numbers nor PKCS#8: it may be in a token");
        }
        try {
            return loaded(new Request(Request.Operation.LOAD_DER, 0, encoded, new byte[0]));
        } finally {
            Arrays.fill(encoded, (byte) 0);
        }
    }

    private static byte[] numbers(RSAPrivateCrtKey key) throws InvalidKeyException {
        BigInteger[] numbers = {
            key.getModulus(), key.getPublicExponent(), key.getPrivateExponent(), key.getPrimeP(), key.getPrimeQ(),
            key.getPrimeExponentP(), key.getPrimeExponentQ(), key.getCrtCoefficient()
        };
        byte[][] parts = new byte[numbers.length][];
        int length = 0;
        for (int i = 0; i < parts.length; i++) {
            parts[i] = bytes(numbers[i]);
            length += 4 + parts[i].length;
        }
        ByteBuffer all = ByteBuffer.allocate(length);
        for (byte[] part : parts) {
            all.putInt(part.length).put(part);
            Arrays.fill(part, (byte) 0);
        }
        return all.array();
    }

    private static byte[] bytes(BigInteger number) throws InvalidKeyException {
        if (number == null || number.signum() <= 0) {
            throw new InvalidKeyException("the key does not show its numbers: one is missing or not positive");
        }
        return number.toByteArray();
    }

    private static Loaded loaded(Request request) throws InvalidKeyException {
        if (request.call().status() == Request.Status.KEY) {
            throw new InvalidKeyException(request.message());
        }
        ByteBuffer result = ByteBuffer.wrap(request.result());
        return new Loaded(result.getLong(), result.getInt());
    }

    private static Loaded keep(Key key, Loaded loaded) {
        Identity identity = null;
        boolean isKept = false;
        try {
            identity = new Identity(key);
            Loaded other = LOADED.putIfAbsent(identity, loaded);
            if (other != null) {
                return other;
            }
            Identity registered = identity;
            CLEANER.register(key, () -> forget(registered));
            isKept = true;
            return loaded;
        } finally {
            if (!isKept) { // another thread was faster, or memory ran out
                if (identity != null) {
                    LOADED.remove(identity, loaded);
                }
                free(loaded);
            }
        }
    }

    private static void forget(Identity identity) {
        Loaded loaded = LOADED.remove(identity);
        if (loaded != null) {
            free(loaded);
        }
    }

    private static void free(Loaded loaded) {
        new Request(Request.Operation.FREE, loaded.handle(), new byte[0], new byte[0]).call();
    }

    /** The identity of a key object. Others may equal it, and to compare them would read their secrets. */
    private static final class Identity extends WeakReference<Key> {
        private final int hash;

        Identity(Key key) {
            super(key);
            hash = System.identityHashCode(key);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            Key key = get();
            return this == other || key != null && other instanceof Identity it && it.get() == key;
        }
    }
}
