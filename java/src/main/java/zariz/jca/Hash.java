package zariz.jca;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.ProviderException;
import java.util.Locale;

/** The hashes, in the order of their numbers in crates/jni/src/protocol.rs. */
enum Hash {
    SHA_1("SHA-1", 20, null),
    SHA_224("SHA-224", 28, "1.2.840.113549.1.1.14"),
    SHA_256("SHA-256", 32, "1.2.840.113549.1.1.11"),
    SHA_384("SHA-384", 48, "1.2.840.113549.1.1.12"),
    SHA_512("SHA-512", 64, "1.2.840.113549.1.1.13"),
    SHA_512_224("SHA-512/224", 28, "1.2.840.113549.1.1.15"),
    SHA_512_256("SHA-512/256", 32, "1.2.840.113549.1.1.16"),
    SHA3_224("SHA3-224", 28, "2.16.840.1.101.3.4.3.13"),
    SHA3_256("SHA3-256", 32, "2.16.840.1.101.3.4.3.14"),
    SHA3_384("SHA3-384", 48, "2.16.840.1.101.3.4.3.15"),
    SHA3_512("SHA3-512", 64, "2.16.840.1.101.3.4.3.16");

    /** The name of the {@link MessageDigest}. */
    final String digestName;
    /** The digest's length in bytes. */
    final int size;
    /**
     * The identifier of its signatures by PKCS#1 v1.5; null for SHA-1, because zariz offers no such
     * signatures.
     */
    final String signatureOid;

    Hash(String digestName, int size, String signatureOid) {
        this.digestName = digestName;
        this.size = size;
        this.signatureOid = signatureOid;
    }

    /** The name of its signatures by PKCS#1 v1.5: SHA256withRSA, SHA3-256withRSA. */
    String signatureName() {
        return digestName.replace("SHA-", "SHA") + "withRSA";
    }

    /** The hash of that name, with or without its first hyphen; null if zariz has none. */
    static Hash named(String name) {
        if (name == null) {
            return null;
        }
        String upper = name.toUpperCase(Locale.ROOT);
        if (upper.equals("SHA")) {
            return SHA_1;
        }
        for (Hash hash : values()) {
            if (upper.equals(hash.digestName) || upper.equals(hash.digestName.replace("SHA-", "SHA"))) {
                return hash;
            }
        }
        return null;
    }

    /** Makes a digest of the first provider that has it: Java's own uses the processor's instructions. */
    MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance(digestName);
        } catch (NoSuchAlgorithmException e) {
            throw new ProviderException("no provider computes " + digestName, e);
        }
    }
}
