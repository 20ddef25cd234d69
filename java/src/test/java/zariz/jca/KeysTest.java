package zariz.jca;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.math.BigInteger;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.InvalidParameterException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Security;
import java.security.Signature;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.RSAKeyGenParameterSpec;
import java.security.spec.RSAPrivateKeySpec;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KeysTest {
    private static final byte[] MESSAGE = {1, 2, 3};

    /** Signs with a provider's signature, and verifies with Java's own. */
    private static String sign(Signature signature, PrivateKey key, KeyPair pair) throws Exception {
        signature.initSign(key);
        signature.update(MESSAGE);
        byte[] signed = signature.sign();
        Signature verifier = Signature.getInstance("SHA256withRSA", "SunRsaSign");
        verifier.initVerify(pair.getPublic());
        verifier.update(MESSAGE);
        assertTrue(verifier.verify(signed));
        return signature.getProvider().getName();
    }

    /** A key of another kind, with the methods of an RSA key that are named. */
    private static PrivateKey foreign(Class<?> type, Map<String, Object> methods) {
        return (PrivateKey) Proxy.newProxyInstance(
                KeysTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    if (methods.containsKey(method.getName())) {
                        return methods.get(method.getName());
                    }
                    return method.getReturnType() == boolean.class ? (Object) false : null;
                });
    }

    private static Map<String, Object> numbers(RSAPrivateCrtKey key) {
        return Map.of(
                "getAlgorithm", "RSA", "getModulus", key.getModulus(), "getPublicExponent", key.getPublicExponent(),
                "getPrivateExponent", key.getPrivateExponent(), "getPrimeP", key.getPrimeP(), "getPrimeQ",
                key.getPrimeQ(), "getPrimeExponentP", key.getPrimeExponentP(), "getPrimeExponentQ",
                key.getPrimeExponentQ(), "getCrtCoefficient", key.getCrtCoefficient(), "hashCode", 1);
    }

    @Test
    void keysOfOthersAreTakenAsTheyAre() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        RSAPrivateCrtKey key = (RSAPrivateCrtKey) pair.getPrivate();
        Signature ours = Signature.getInstance("SHA256withRSA", Fixtures.ZARIZ);
        sign(ours, key, pair);
        sign(ours, foreign(RSAPrivateCrtKey.class, numbers(key)), pair);
        Map<String, Object> encoded = Map.of(
                "getAlgorithm", "RSA", "getFormat", "PKCS#8", "getEncoded", key.getEncoded(), "hashCode", 1);
        sign(ours, foreign(PrivateKey.class, encoded), pair);
    }

    /** A token's key shows no number, and Java's own key without primes cannot be put into lanes. */
    @Test
    void keysThatDoNotShowTheirNumbersGoToTheNextProvider() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        RSAPrivateCrtKey crt = (RSAPrivateCrtKey) pair.getPrivate();
        PrivateKey withoutPrimes = KeyFactory.getInstance("RSA")
                .generatePrivate(new RSAPrivateKeySpec(crt.getModulus(), crt.getPrivateExponent()));
        PrivateKey opaque = foreign(PrivateKey.class, Map.of("getAlgorithm", "RSA", "hashCode", 1));
        PrivateKey ec = foreign(PrivateKey.class, Map.of("getAlgorithm", "EC", "hashCode", 1));
        PrivateKey damaged = foreign(RSAPrivateCrtKey.class, new java.util.HashMap<>(numbers(crt)) {
            {
                put("getPrimeP", crt.getPrimeP().add(BigInteger.TWO));
            }
        });
        Signature ours = Signature.getInstance("SHA256withRSA", Fixtures.ZARIZ);
        for (PrivateKey bad : new PrivateKey[] {withoutPrimes, opaque, ec, damaged, null}) {
            assertThrows(InvalidKeyException.class, () -> ours.initSign(bad));
        }
        Fixtures.withZarizFirst(() -> {
            assertEquals("SunRsaSign", sign(Signature.getInstance("SHA256withRSA"), withoutPrimes, pair));
            assertEquals("Zariz", sign(Signature.getInstance("SHA256withRSA"), crt, pair));
            TokenProvider token = new TokenProvider(opaque, crt);
            Security.addProvider(token);
            try {
                assertEquals("Token", sign(Signature.getInstance("SHA256withRSA"), opaque, pair));
            } finally {
                Security.removeProvider(token.getName());
            }
        });
    }

    @Test
    void aDestroyedKeyIsRefused() {
        PrivateKey destroyed = foreign(PrivateKey.class, Map.of("getAlgorithm", "RSA", "isDestroyed", true, "hashCode", 1));
        assertThrows(InvalidKeyException.class, () -> Keys.of(destroyed));
    }

    @Test
    void aKeyIsReadOnceAndForgottenWhenItIsCollected() throws Exception {
        KeyPair pair = Fixtures.newPair(1024);
        long handle = Keys.of(pair.getPrivate()).handle();
        assertEquals(handle, Keys.of(pair.getPrivate()).handle());
        assertNotEquals(handle, Keys.of(pair.getPublic()).handle());
        assertEquals(Request.Status.DONE, status(handle));
        Field loaded = Keys.class.getDeclaredField("LOADED");
        loaded.setAccessible(true);
        pair = null;
        for (int i = 0; i < 200 && status(handle) == Request.Status.DONE; i++) {
            System.gc();
            Thread.sleep(20);
        }
        assertEquals(Request.Status.MALFORMED, status(handle), "the native key is gone");
        assertTrue(((Map<?, ?>) loaded.get(null)).values().stream().noneMatch(it -> ((Keys.Loaded) it).handle() == handle));
    }

    /** Compiled code holds no object that it does not need any more. */
    @Test
    void aKeyIsNotFreedWhileItIsUsed() throws Exception {
        List<String> options = List.of("-XX:+UseSerialGC", "-Xmx64m", "-Xcomp", "-XX:CompileCommand=quiet",
                "-XX:CompileCommand=compileonly,zariz.jca.*::*",
                "-XX:CompileCommand=compileonly,java.security.Signature*::*",
                "-XX:CompileCommand=compileonly,javax.crypto.Cipher::*");
        String output = Fixtures.child(options, "collect");
        assertTrue(output.contains("collected\n"), output);
    }

    private static Request.Status status(long handle) {
        return new Request(Request.Operation.SIGN_PKCS1, handle, Hash.SHA_256, Hash.SHA_1, 0, new byte[32], new byte[0])
                .call()
                .status();
    }

    @Test
    void newKeysHaveTheLengthAndExponentThatWereAskedFor() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA", Fixtures.ZARIZ);
        assertEquals(3072, ((RSAPublicKey) generator.generateKeyPair().getPublic()).getModulus().bitLength());
        BigInteger exponent = BigInteger.valueOf(65539);
        generator.initialize(new RSAKeyGenParameterSpec(1536, exponent));
        KeyPair pair = generator.generateKeyPair();
        RSAPublicKey key = (RSAPublicKey) pair.getPublic();
        assertEquals(1536, key.getModulus().bitLength());
        assertEquals(exponent, key.getPublicExponent());
        sign(Signature.getInstance("SHA256withRSA", "SunRsaSign"), pair.getPrivate(), pair);
        assertThrows(InvalidParameterException.class, () -> generator.initialize(1023));
        assertThrows(InvalidParameterException.class, () -> generator.initialize(16385));
        for (long bad : new long[] {3, 65538, -65537}) {
            assertThrows(InvalidAlgorithmParameterException.class,
                    () -> generator.initialize(new RSAKeyGenParameterSpec(2048, BigInteger.valueOf(bad))));
        }
        Fixtures.withZarizFirst(() -> {
            KeyPairGenerator any = KeyPairGenerator.getInstance("RSA");
            any.initialize(512); // the next provider makes it
            assertEquals(512, ((RSAPublicKey) any.generateKeyPair().getPublic()).getModulus().bitLength());
        });
    }
}
