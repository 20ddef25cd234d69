package zariz.jca;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import org.junit.jupiter.api.Test;

class SignaturesTest {
    private static final byte[] MESSAGE = "message".getBytes(UTF_8);
    private static final Provider SUN = Security.getProvider("SunRsaSign");

    private static Signature signature(Provider provider, String name, PSSParameterSpec parameters) throws Exception {
        Signature signature = Signature.getInstance(name, provider);
        if (parameters != null) {
            signature.setParameter(parameters);
        }
        return signature;
    }

    /** What one provider signs, the other verifies, and it refuses another message. */
    private static void check(String name, PSSParameterSpec parameters, KeyPair pair) throws Exception {
        for (Provider[] order : new Provider[][] {{Fixtures.ZARIZ, SUN}, {SUN, Fixtures.ZARIZ}}) {
            Signature signer = signature(order[0], name, parameters);
            signer.initSign(pair.getPrivate());
            signer.update(MESSAGE);
            byte[] signed = signer.sign();
            Signature verifier = signature(order[1], name, parameters);
            verifier.initVerify(pair.getPublic());
            verifier.update(MESSAGE);
            assertTrue(verifier.verify(signed), name);
            verifier.update((byte) 1);
            verifier.update(MESSAGE);
            assertFalse(verifier.verify(signed), name + ": another message");
            signed[signed.length - 1] ^= 1;
            verifier.update(MESSAGE);
            assertFalse(verifier.verify(signed), name + ": another signature");
        }
    }

    private static PSSParameterSpec pss(String hash, String maskHash, int saltLength) {
        return new PSSParameterSpec(hash, "MGF1", new MGF1ParameterSpec(maskHash), saltLength, 1);
    }

    @Test
    void bothProvidersAgreeOnEveryAlgorithm() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        int names = 0;
        for (Hash hash : Hash.values()) {
            if (hash.signatureOid != null) {
                check(hash.signatureName(), null, pair);
                assertNotNull(Signature.getInstance(hash.signatureOid, Fixtures.ZARIZ));
                names++;
            }
            check("RSASSA-PSS", pss(hash.digestName, hash.digestName, hash.size), pair);
            check("RSASSA-PSS", pss(hash.digestName, "SHA-1", 0), pair);
            check("RSASSA-PSS", pss("SHA-256", hash.digestName, 17), pair);
        }
        assertEquals(10, names);
    }

    @Test
    void bothProvidersAgreeOnEveryLengthOfKey() throws Exception {
        for (int bits : new int[] {1024, 1025, 1536, 2047, 3072, 4096, 4104}) {
            check("SHA512withRSA", null, Fixtures.pair(bits));
            check("RSASSA-PSS", pss("SHA-256", "SHA-256", 32), Fixtures.pair(bits));
        }
    }

    @Test
    void signaturesByPkcs1AreTheSameHoweverTheMessageCame() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        byte[] message = new byte[10_000];
        Signature signer = signature(SUN, "SHA256withRSA", null);
        signer.initSign(pair.getPrivate());
        signer.update(message);
        byte[] expected = signer.sign();
        Signature ours = signature(Fixtures.ZARIZ, "SHA256withRSA", null);
        ours.initSign(pair.getPrivate());
        for (ByteBuffer rest : new ByteBuffer[] {ByteBuffer.allocate(6_999), ByteBuffer.allocateDirect(6_999)}) {
            ours.update(message[0]);
            ours.update(message, 1, 3_000);
            ours.update(rest);
            assertEquals(0, rest.remaining());
            assertArrayEquals(expected, ours.sign());
        }
        // A new start forgets what came before; so does a length that is wrong.
        ours.update(MESSAGE);
        ours.initSign(pair.getPrivate());
        ours.update(message);
        byte[] out = new byte[300];
        assertEquals(256, ours.sign(out, 44, 256));
        assertArrayEquals(expected, java.util.Arrays.copyOfRange(out, 44, 300));
        ours.initVerify(pair.getPublic());
        ours.update(MESSAGE);
        assertThrows(SignatureException.class, () -> ours.verify(new byte[255]));
        ours.update(message);
        assertTrue(ours.verify(expected));
        // Not below the modulus.
        byte[] large = new byte[256];
        java.util.Arrays.fill(large, (byte) 0xff);
        ours.update(message);
        assertFalse(ours.verify(large));
    }

    @Test
    void parametersThatZarizLacksAreRefused() throws Exception {
        PSSParameterSpec[] bad = {
            pss("MD5", "SHA-256", 20),
            pss("SHA-256", "MD5", 20),
            new PSSParameterSpec("SHA-256", "MGF1", null, 20, 1),
            new PSSParameterSpec("SHA-256", "SHAKE128", new MGF1ParameterSpec("SHA-256"), 20, 1),
            new PSSParameterSpec("SHA-256", "MGF1", new MGF1ParameterSpec("SHA-256"), 20, 2),
        };
        Signature signer = Signature.getInstance("RSASSA-PSS", Fixtures.ZARIZ);
        for (PSSParameterSpec parameters : bad) {
            assertThrows(InvalidAlgorithmParameterException.class, () -> signer.setParameter(parameters));
        }
        assertThrows(InvalidAlgorithmParameterException.class, () -> signer.setParameter(null));
        assertThrows(
                InvalidAlgorithmParameterException.class,
                () -> signature(Fixtures.ZARIZ, "SHA256withRSA", pss("SHA-256", "SHA-256", 32)));
        assertThrows(NoSuchAlgorithmException.class, () -> Signature.getInstance("MD5withRSA", Fixtures.ZARIZ));
        // A salt that the key is too short for, before and after the key.
        signer.setParameter(pss("SHA-512", "SHA-512", 63));
        assertThrows(InvalidKeyException.class, () -> signer.initSign(Fixtures.pair(1024).getPrivate()));
        signer.setParameter(pss("SHA-512", "SHA-512", 62));
        signer.initSign(Fixtures.pair(1024).getPrivate());
        assertThrows(
                InvalidAlgorithmParameterException.class, () -> signer.setParameter(pss("SHA-512", "SHA-512", 63)));
        signer.update(MESSAGE);
        assertEquals(128, signer.sign().length);
        // Without parameters there is no hash; those that were set are those that are told.
        Signature bare = Signature.getInstance("RSASSA-PSS", Fixtures.ZARIZ);
        bare.initSign(Fixtures.pair(1024).getPrivate());
        assertThrows(SignatureException.class, () -> bare.update(MESSAGE));
        PSSParameterSpec told = signer.getParameters().getParameterSpec(PSSParameterSpec.class);
        assertEquals("SHA-512", told.getDigestAlgorithm());
        assertEquals(62, told.getSaltLength());
    }

    @Test
    void aKeyRestrictedToPssSignsAsItsParametersSay() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSASSA-PSS");
        generator.initialize(new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4, pss("SHA-256", "SHA-256", 32)));
        KeyPair pair = generator.generateKeyPair();
        check("RSASSA-PSS", pss("SHA-256", "SHA-256", 32), pair);
        check("RSASSA-PSS", pss("SHA-256", "SHA-256", 40), pair);
        for (PSSParameterSpec parameters : new PSSParameterSpec[] {
            pss("SHA-384", "SHA-256", 32), pss("SHA-256", "SHA-1", 32), pss("SHA-256", "SHA-256", 31)
        }) {
            Signature signer = signature(Fixtures.ZARIZ, "RSASSA-PSS", parameters);
            assertThrows(InvalidKeyException.class, () -> signer.initSign(pair.getPrivate()));
        }
        Signature pkcs1 = Signature.getInstance("SHA256withRSA", Fixtures.ZARIZ);
        assertThrows(InvalidKeyException.class, () -> pkcs1.initSign(pair.getPrivate()));
        assertThrows(InvalidKeyException.class, () -> pkcs1.initVerify(pair.getPublic()));
        // Its parameters are those of a signature that has none.
        Signature signer = Signature.getInstance("RSASSA-PSS", Fixtures.ZARIZ);
        signer.initSign(pair.getPrivate());
        signer.update(MESSAGE);
        Signature verifier = signature(SUN, "RSASSA-PSS", pss("SHA-256", "SHA-256", 32));
        verifier.initVerify(pair.getPublic());
        verifier.update(MESSAGE);
        assertTrue(verifier.verify(signer.sign()));
    }

    @Test
    void parametersOfAKeyEndWithTheKey() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSASSA-PSS");
        BigInteger exponent = RSAKeyGenParameterSpec.F4;
        generator.initialize(new RSAKeyGenParameterSpec(2048, exponent, pss("SHA-256", "SHA-256", 32)));
        KeyPair first = generator.generateKeyPair();
        generator.initialize(new RSAKeyGenParameterSpec(2048, exponent, pss("SHA-384", "SHA-384", 48)));
        KeyPair second = generator.generateKeyPair();
        Signature signer = Signature.getInstance("RSASSA-PSS", Fixtures.ZARIZ);
        signer.initSign(first.getPrivate());
        signer.initSign(second.getPrivate());
        signer.update(MESSAGE);
        byte[] signed = signer.sign();
        Signature verifier = signature(SUN, "RSASSA-PSS", pss("SHA-384", "SHA-384", 48));
        verifier.initVerify(second.getPublic());
        verifier.update(MESSAGE);
        assertTrue(verifier.verify(signed));
        // A key without parameters has none of another key.
        signer.initSign(Fixtures.pair(2048).getPrivate());
        assertNull(signer.getParameters());
        assertThrows(SignatureException.class, () -> signer.update(MESSAGE));
        // Those of the program stay, and a key that fails changes nothing.
        signer.setParameter(pss("SHA-512", "SHA-512", 64));
        assertThrows(InvalidKeyException.class, () -> signer.initSign(Fixtures.pair(1024).getPrivate()));
        assertThrows(InvalidKeyException.class, () -> signer.initSign(first.getPrivate()));
        assertEquals(64, signer.getParameters().getParameterSpec(PSSParameterSpec.class).getSaltLength());
        signer.update(MESSAGE);
        assertEquals(256, signer.sign().length);
    }
}
