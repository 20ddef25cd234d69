package zariz.jca;

import java.security.Provider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * RSA for Java, many operations side by side in vector lanes:
 *
 * <pre>{@code Security.insertProviderAt(new Zariz(), 1);}</pre>
 *
 * <p>It offers {@code Signature} (SHA-2 and SHA-3 withRSA, RSASSA-PSS), {@code Cipher} (RSA with PKCS#1 v1.5
 * and OAEP) and {@code KeyPairGenerator} (RSA). If the native library cannot be loaded, it offers nothing,
 * and the next provider computes.
 */
public final class Zariz extends Provider {
    private static final long serialVersionUID = 1;

    /**
     * Counts what was computed since the program began. Verifications and encryptions are public operations.
     *
     * @param privateOperations signatures and decryptions
     * @param privateBatches the batches in which they were computed
     * @param publicOperations verifications and encryptions
     * @param publicBatches the batches in which they were computed
     */
    public record Metrics(long privateOperations, long privateBatches, long publicOperations, long publicBatches) {}

    /** The provider. There may be several; they share their batches and keys. */
    public Zariz() {
        super("Zariz", Native.VERSION, "RSA in vector lanes");
        if (!isAvailable()) {
            return;
        }
        for (Hash hash : Hash.values()) {
            if (hash.signatureOid != null) {
                Supplier<Object> maker = () -> RsaSignature.pkcs1(hash);
                offer("Signature", hash.signatureName(), RsaSignature.class, maker, Map.of(), hash.signatureOid);
            }
        }
        Supplier<Object> pss = RsaSignature::pss;
        offer("Signature", "RSASSA-PSS", RsaSignature.class, pss, Map.of(), "1.2.840.113549.1.1.10");
        List<String> paddings = new ArrayList<>(List.of("PKCS1PADDING", "OAEPPADDING"));
        for (Hash hash : Hash.values()) {
            paddings.add("OAEPWITH" + hash.digestName + "ANDMGF1PADDING");
            paddings.add("OAEPWITH" + hash.digestName.replace("SHA-", "SHA") + "ANDMGF1PADDING");
        }
        Map<String, String> supported = Map.of("SupportedModes", "ECB", "SupportedPaddings", String.join("|", paddings));
        offer("Cipher", "RSA", RsaCipher.class, RsaCipher::new, supported, "1.2.840.113549.1.1.1");
        Supplier<Object> generator = RsaKeyPairGenerator::new;
        offer("KeyPairGenerator", "RSA", RsaKeyPairGenerator.class, generator, Map.of(), "1.2.840.113549.1.1.1");
    }

    private void offer(String type, String name, Class<?> spi, Supplier<Object> maker,
            Map<String, String> attributes, String oid) {
        putService(new Service(this, type, name, spi.getName(), List.of(oid, "OID." + oid), attributes) {
            @Override
            public Object newInstance(Object parameter) {
                return maker.get();
            }
        });
    }

    /** Whether the native library was loaded. If not, {@link #unavailabilityCause} says why. */
    public static boolean isAvailable() {
        return Native.UNAVAILABLE == null;
    }

    /** Why the native library cannot be loaded; null if it was. */
    public static Throwable unavailabilityCause() {
        return Native.UNAVAILABLE;
    }

    /** The version of this package and of its native library. */
    public static String version() {
        return Native.VERSION;
    }

    /** The fastest engine on this processor, such as {@code avx512-ifma}; null without the native library. */
    public static String engine() {
        return Native.ENGINE;
    }

    /** What was computed since the program began, and in how many batches. */
    public static Metrics metrics() {
        long operations = Batcher.PRIVATE.operations.sum() + Batcher.LONG.operations.sum();
        long batches = Batcher.PRIVATE.batches.sum() + Batcher.LONG.batches.sum();
        return new Metrics(operations, batches, Batcher.PUBLIC.operations.sum(), Batcher.PUBLIC.batches.sum());
    }
}
