package zariz.jca;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.PSSParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import org.junit.jupiter.api.Test;

/** The Wycheproof project's RSA files, of the folder that the property {@code zariz.wycheproof} names. */
class WycheproofTest {
    private int cases;

    private interface Group {
        void check(JsonObject group, List<JsonElement> tests) throws Exception;
    }

    private void each(String prefix, Group check) throws Exception {
        String folder = System.getProperty("zariz.wycheproof", "");
        assumeFalse(folder.isEmpty(), "the property zariz.wycheproof names no folder");
        List<Path> files;
        try (Stream<Path> all = Files.list(Path.of(folder))) {
            files = all.filter(it -> it.getFileName().toString().startsWith(prefix)).sorted().toList();
        }
        for (Path file : files) {
            JsonObject content = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
            for (JsonElement element : content.getAsJsonArray("testGroups")) {
                JsonObject group = element.getAsJsonObject();
                if (group.has("mgf") && !text(group, "mgf").equals("MGF1")) {
                    continue; // SHAKE: no provider of Java's has it
                }
                check.check(group, group.getAsJsonArray("tests").asList());
            }
        }
    }

    private static String text(JsonObject object, String name) {
        return object.get(name).getAsString();
    }

    private static byte[] bytes(JsonObject object, String name) {
        return HexFormat.of().parseHex(text(object, name));
    }

    private static PublicKey publicKey(JsonObject group) throws Exception {
        JsonObject key = group.getAsJsonObject("publicKey");
        BigInteger n = new BigInteger(1, bytes(key, "modulus"));
        BigInteger e = new BigInteger(1, bytes(key, "publicExponent"));
        return KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(n, e));
    }

    private static PrivateKey privateKey(JsonObject group) throws Exception {
        return KeyFactory.getInstance("RSA")
                .generatePrivate(new PKCS8EncodedKeySpec(bytes(group, "privateKeyPkcs8")));
    }

    private void verify(Signature signature, JsonObject group, List<JsonElement> tests) throws Exception {
        signature.initVerify(publicKey(group));
        for (JsonElement element : tests) {
            JsonObject test = element.getAsJsonObject();
            boolean verifies;
            try {
                signature.update(bytes(test, "msg"));
                verifies = signature.verify(bytes(test, "sig"));
            } catch (SignatureException e) {
                verifies = false; // a wrong length
            }
            // What is merely acceptable lacks the NULL that RFC 8017 asks for.
            assertEquals(text(test, "result").equals("valid"), verifies, () -> group + " " + test);
            cases++;
        }
    }

    @Test
    void signaturesByPkcs1() throws Exception {
        each("rsa_signature_", (group, tests) -> {
            String name = Hash.named(text(group, "sha")).signatureName();
            verify(Signature.getInstance(name, Fixtures.ZARIZ), group, tests);
        });
        assertEquals(6202, cases);
    }

    @Test
    void signaturesByPss() throws Exception {
        each("rsa_pss_", (group, tests) -> {
            Signature signature = Signature.getInstance("RSASSA-PSS", Fixtures.ZARIZ);
            MGF1ParameterSpec mask = new MGF1ParameterSpec(text(group, "mgfSha"));
            int saltLength = group.get("sLen").getAsInt();
            signature.setParameter(new PSSParameterSpec(text(group, "sha"), "MGF1", mask, saltLength, 1));
            verify(signature, group, tests);
        });
        assertTrue(cases > 2500, cases + " cases");
    }

    @Test
    void decryptionByOaep() throws Exception {
        each("rsa_oaep_", (group, tests) -> {
            PrivateKey key = privateKey(group);
            Cipher cipher = Cipher.getInstance("RSA/ECB/OAEPPadding", Fixtures.ZARIZ);
            MGF1ParameterSpec mask = new MGF1ParameterSpec(text(group, "mgfSha"));
            for (JsonElement element : tests) {
                JsonObject test = element.getAsJsonObject();
                PSource label = new PSource.PSpecified(bytes(test, "label"));
                cipher.init(Cipher.DECRYPT_MODE, key, new OAEPParameterSpec(text(group, "sha"), "MGF1", mask, label));
                byte[] message;
                try {
                    message = cipher.doFinal(bytes(test, "ct"));
                } catch (BadPaddingException | IllegalBlockSizeException e) {
                    message = null;
                }
                // What is acceptable has a right encoding that is a small number.
                boolean isRight = !text(test, "result").equals("invalid");
                assertArrayEquals(isRight ? bytes(test, "msg") : null, message, () -> group + " " + test);
                cases++;
            }
        });
        assertEquals(1098, cases);
    }

    @Test
    void decryptionByPkcs1() throws Exception {
        each("rsa_pkcs1_", (group, tests) -> {
            Cipher cipher = Cipher.getInstance("RSA/ECB/PKCS1Padding", Fixtures.ZARIZ);
            cipher.init(Cipher.DECRYPT_MODE, privateKey(group));
            for (JsonElement element : tests) {
                JsonObject test = element.getAsJsonObject();
                byte[] message;
                try {
                    message = cipher.doFinal(bytes(test, "ct"));
                } catch (BadPaddingException | IllegalBlockSizeException e) {
                    message = null; // it is too long, or not below the modulus: anybody sees that
                    assertTrue(test.get("flags").toString().contains("InvalidCiphertextFormat"), test::toString);
                }
                boolean isValid = text(test, "result").equals("valid");
                if (isValid) {
                    assertArrayEquals(bytes(test, "msg"), message, test::toString);
                } else {
                    assertFalse(Arrays.equals(bytes(test, "msg"), message), "implicit rejection: " + test);
                }
                cases++;
            }
        });
        assertEquals(201, cases);
    }
}
