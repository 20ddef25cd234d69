package zariz.jca;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyPair;
import java.security.Provider;
import java.security.Security;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.util.Arrays;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class CiphersTest {
    private static final byte[] MESSAGE = "message".getBytes(UTF_8);
    private static final Provider SUN = Security.getProvider("SunJCE");
    private static final String PKCS1 = "RSA/ECB/PKCS1Padding";
    private static final String OAEP = "RSA/ECB/OAEPPadding";

    private static Cipher cipher(Provider provider, String name, int mode, Key key, AlgorithmParameterSpec parameters)
            throws Exception {
        Cipher cipher = Cipher.getInstance(name, provider);
        cipher.init(mode, key, parameters);
        return cipher;
    }

    private static Cipher ours(String name, int mode, Key key) throws Exception {
        return cipher(Fixtures.ZARIZ, name, mode, key, null);
    }

    /** What one provider encrypts, the other decrypts. */
    private static void check(String name, AlgorithmParameterSpec parameters, int bits) throws Exception {
        KeyPair pair = Fixtures.pair(bits);
        for (Provider[] order : new Provider[][] {{Fixtures.ZARIZ, SUN}, {SUN, Fixtures.ZARIZ}}) {
            for (byte[] message : new byte[][] {MESSAGE, {}, {0, 0, 1}}) {
                Cipher encrypts = cipher(order[0], name, Cipher.ENCRYPT_MODE, pair.getPublic(), parameters);
                byte[] encrypted = encrypts.doFinal(message);
                Cipher decrypts = cipher(order[1], name, Cipher.DECRYPT_MODE, pair.getPrivate(), parameters);
                assertArrayEquals(message, decrypts.doFinal(encrypted), name);
            }
        }
    }

    @Test
    void bothProvidersAgree() throws Exception {
        for (int bits : new int[] {1024, 2048, 2051, 4104}) {
            check("RSA", null, bits);
            check(PKCS1, null, bits);
            check(OAEP, null, bits);
        }
        for (String hash : new String[] {"SHA1", "SHA-1", "SHA-224", "SHA-256", "SHA-384", "SHA-512", "SHA-512/256"}) {
            check("RSA/ECB/OAEPWith" + hash + "AndMGF1Padding", null, 2048);
        }
        for (String maskHash : new String[] {"SHA-1", "SHA-256", "SHA-512"}) {
            PSource label = new PSource.PSpecified("label".getBytes(UTF_8));
            check(OAEP, new OAEPParameterSpec("SHA-256", "MGF1", new MGF1ParameterSpec(maskHash), label), 2048);
        }
    }

    @Test
    void keysAreWrappedAndUnwrapped() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        Key key = new SecretKeySpec(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, "AES");
        for (String name : new String[] {PKCS1, OAEP}) {
            byte[] wrapped = ours(name, Cipher.WRAP_MODE, pair.getPublic()).wrap(key);
            Cipher unwraps = ours(name, Cipher.UNWRAP_MODE, pair.getPrivate());
            assertEquals(key, unwraps.unwrap(wrapped, "AES", Cipher.SECRET_KEY));
            assertThrows(InvalidKeyException.class, () -> unwraps.unwrap(new byte[9], "AES", Cipher.SECRET_KEY));
            assertThrows(InvalidKeyException.class, () -> unwraps.unwrap(wrapped, "RSA", Cipher.PUBLIC_KEY));
        }
    }

    @Test
    void badPaddingOfPkcs1GivesAnotherMessageAndThatOfOaepAnError() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        Cipher raw = cipher(SUN, "RSA/ECB/NoPadding", Cipher.ENCRYPT_MODE, pair.getPublic(), null);
        byte[] block = new byte[256];
        block[255] = 3;
        byte[] bad = raw.doFinal(block);
        byte[] substitute = ours(PKCS1, Cipher.DECRYPT_MODE, pair.getPrivate()).doFinal(bad);
        assertArrayEquals(substitute, ours(PKCS1, Cipher.DECRYPT_MODE, pair.getPrivate()).doFinal(bad));
        assertFalse(substitute.length > 245, "it would fit");
        assertThrows(BadPaddingException.class, () -> ours(OAEP, Cipher.DECRYPT_MODE, pair.getPrivate()).doFinal(bad));
    }

    @Test
    void wrongInputsGiveTheErrorsOfTheArchitecture() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        byte[] large = new byte[256];
        Arrays.fill(large, (byte) 0xff);
        for (String name : new String[] {PKCS1, OAEP}) {
            Cipher encrypts = ours(name, Cipher.ENCRYPT_MODE, pair.getPublic());
            assertThrows(IllegalBlockSizeException.class, () -> encrypts.doFinal(new byte[246]));
            assertThrows(IllegalBlockSizeException.class, () -> encrypts.doFinal(new byte[100_000]));
            assertThrows(ShortBufferException.class, () -> encrypts.doFinal(MESSAGE, 0, 7, new byte[255]));
            assertEquals(256, encrypts.getOutputSize(7));
            Cipher decrypts = ours(name, Cipher.DECRYPT_MODE, pair.getPrivate());
            assertThrows(IllegalBlockSizeException.class, () -> decrypts.doFinal(new byte[255]));
            assertThrows(IllegalBlockSizeException.class, () -> decrypts.doFinal(new byte[257]));
            assertThrows(BadPaddingException.class, () -> decrypts.doFinal(large));
            // In parts; and after an error it begins again.
            byte[] encrypted = encrypts.doFinal(MESSAGE);
            decrypts.update(encrypted, 0, 100);
            decrypts.update(encrypted, 100, 155);
            assertArrayEquals(MESSAGE, decrypts.doFinal(encrypted, 255, 1));
            byte[] out = new byte[260];
            assertEquals(7, decrypts.doFinal(encrypted, 0, 256, out, 4));
            assertArrayEquals(MESSAGE, Arrays.copyOfRange(out, 4, 11));
        }
        OAEPParameterSpec noHash =
                new OAEPParameterSpec("MD5", "MGF1", MGF1ParameterSpec.SHA1, PSource.PSpecified.DEFAULT);
        for (AlgorithmParameterSpec bad : new AlgorithmParameterSpec[] {noHash, new IvParameterSpec(new byte[8])}) {
            for (String name : new String[] {PKCS1, OAEP}) {
                assertThrows(
                        InvalidAlgorithmParameterException.class,
                        () -> cipher(Fixtures.ZARIZ, name, Cipher.ENCRYPT_MODE, pair.getPublic(), bad));
            }
        }
        assertThrows(InvalidKeyException.class, () -> ours("RSA/ECB/OAEPWithSHA-512AndMGF1Padding",
                Cipher.ENCRYPT_MODE, Fixtures.pair(1024).getPublic()));
        for (String name : new String[] {"RSA/CBC/PKCS1Padding", "RSA/ECB/NoPadding", "RSA/ECB/OAEPWithMD5AndMGF1Padding"}) {
            assertThrows(GeneralSecurityException.class, () -> Cipher.getInstance(name, Fixtures.ZARIZ));
        }
    }

    @Test
    void anInitializationThatFailsLeavesTheCipherAsItWas() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        KeyPair small = Fixtures.pair(1024);
        RsaCipher ours = new RsaCipher();
        ours.engineSetPadding("OAEPWithSHA-512AndMGF1Padding");
        ours.engineInit(Cipher.ENCRYPT_MODE, pair.getPublic(), (AlgorithmParameterSpec) null, null);
        OAEPParameterSpec sha1 = new OAEPParameterSpec(
                "SHA-1", "MGF1", MGF1ParameterSpec.SHA256, new PSource.PSpecified(new byte[] {1}));
        AlgorithmParameterSpec none = null;
        assertThrows(
                InvalidKeyException.class, () -> ours.engineInit(Cipher.DECRYPT_MODE, small.getPrivate(), none, null));
        assertThrows(
                InvalidKeyException.class, () -> ours.engineInit(Cipher.DECRYPT_MODE, pair.getPublic(), sha1, null));
        assertThrows(InvalidAlgorithmParameterException.class,
                () -> ours.engineInit(Cipher.DECRYPT_MODE, small.getPrivate(), new IvParameterSpec(new byte[8]), null));
        byte[] message = new byte[126]; // more than SHA-512 leaves in a key of 1024 bits
        byte[] encrypted = ours.engineDoFinal(message, 0, message.length);
        Cipher theirs = cipher(
                SUN, "RSA/ECB/OAEPWithSHA-512AndMGF1Padding", Cipher.DECRYPT_MODE, pair.getPrivate(), null);
        assertArrayEquals(message, theirs.doFinal(encrypted));
        SecretKeySpec other = new SecretKeySpec(new byte[16], "RSA");
        assertThrows(InvalidKeyException.class, () -> new RsaCipher().engineGetKeySize(other));
        assertEquals(1024, new RsaCipher().engineGetKeySize(small.getPublic()));
    }

    @Test
    void theNextProviderServesWhatZarizLeavesOut() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        Fixtures.withZarizFirst(() -> {
            Cipher signs = Cipher.getInstance(PKCS1);
            signs.init(Cipher.ENCRYPT_MODE, pair.getPrivate());
            assertEquals("SunJCE", signs.getProvider().getName());
            Cipher recovers = Cipher.getInstance(PKCS1);
            recovers.init(Cipher.DECRYPT_MODE, pair.getPublic());
            assertArrayEquals(MESSAGE, recovers.doFinal(signs.doFinal(MESSAGE)));
            assertEquals("SunJCE", Cipher.getInstance("RSA/ECB/NoPadding").getProvider().getName());
            Cipher ours = Cipher.getInstance(PKCS1);
            ours.init(Cipher.ENCRYPT_MODE, pair.getPublic());
            assertEquals("Zariz", ours.getProvider().getName());
        });
    }
}
