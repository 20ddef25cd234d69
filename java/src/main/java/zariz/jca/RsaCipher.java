package zariz.jca;

import java.lang.ref.Reference;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.InvalidParameterSpecException;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Locale;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import javax.crypto.CipherSpi;
import javax.crypto.IllegalBlockSizeException;
import javax.crypto.NoSuchPaddingException;
import javax.crypto.ShortBufferException;
import javax.crypto.spec.OAEPParameterSpec;
import javax.crypto.spec.PSource;
import javax.crypto.spec.SecretKeySpec;
import zariz.jca.Request.Operation;

/**
 * Encryption with public keys, decryption with private ones, by PKCS#1 v1.5 or OAEP.
 *
 * <p>Decryption by PKCS#1 v1.5 never reports bad padding. It returns another message instead, which looks
 * random and is always the same for a ciphertext (<i>implicit rejection</i>). So no error helps an attacker
 * to decrypt.
 */
final class RsaCipher extends CipherSpi {
    /** The parameters that SunJSSE passes with an encrypted premaster secret. Their class is internal. */
    private static final String PREMASTER_SPEC = "sun.security.internal.spec.TlsRsaPremasterSecretParameterSpec";

    /** What OAEP needs; for PKCS#1 v1.5 it has no meaning. */
    private record Oaep(Hash hash, Hash maskHash, byte[] label) {}

    private boolean isOaep;
    private Oaep oaep;
    /** The hash that the transformation named. */
    private Hash named = Hash.SHA_1;

    private boolean encrypts;
    private boolean isPremaster;
    /** The key object, which keeps the native key alive. */
    private Key key;
    private Keys.Loaded loaded;
    private byte[] buffer = new byte[0];
    private int length;

    @Override
    protected void engineSetMode(String mode) throws NoSuchAlgorithmException {
        if (!mode.equalsIgnoreCase("ECB")) {
            throw new NoSuchAlgorithmException("RSA has the mode ECB, not " + mode);
        }
    }

    @Override
    protected void engineSetPadding(String padding) throws NoSuchPaddingException {
        String upper = padding.toUpperCase(Locale.ROOT);
        isOaep = !upper.equals("PKCS1PADDING");
        if (isOaep && !upper.equals("OAEPPADDING")) {
            boolean isNamed = upper.startsWith("OAEPWITH") && upper.endsWith("ANDMGF1PADDING");
            named = isNamed ? Hash.named(upper.substring(8, upper.length() - 14)) : null;
        }
        if (named == null) {
            throw new NoSuchPaddingException("zariz has no padding " + padding);
        }
    }

    @Override
    protected void engineInit(int mode, Key key, SecureRandom random) throws InvalidKeyException {
        try {
            engineInit(mode, key, (AlgorithmParameterSpec) null, random);
        } catch (InvalidAlgorithmParameterException e) {
            throw new InvalidKeyException(e);
        }
    }

    @Override
    protected void engineInit(int mode, Key key, AlgorithmParameters parameters, SecureRandom random)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        try {
            AlgorithmParameterSpec spec =
                    parameters == null ? null : parameters.getParameterSpec(OAEPParameterSpec.class);
            engineInit(mode, key, spec, random);
        } catch (InvalidParameterSpecException e) {
            throw new InvalidAlgorithmParameterException("these are no parameters of OAEP", e);
        }
    }

    @Override
    protected void engineInit(int mode, Key key, AlgorithmParameterSpec parameters, SecureRandom random)
            throws InvalidKeyException, InvalidAlgorithmParameterException {
        boolean encrypts = mode == Cipher.ENCRYPT_MODE || mode == Cipher.WRAP_MODE;
        Keys.Loaded loaded;
        if (encrypts && key instanceof PublicKey it) {
            loaded = Keys.of(it);
        } else if (!encrypts && key instanceof PrivateKey it) {
            loaded = Keys.of(it);
        } else {
            throw new InvalidKeyException("zariz encrypts with public keys and decrypts with private ones");
        }
        if (!"RSA".equalsIgnoreCase(key.getAlgorithm())) {
            throw new InvalidKeyException("the key is for signatures by PSS only");
        }
        boolean isPremaster =
                !isOaep && parameters != null && parameters.getClass().getName().equals(PREMASTER_SPEC);
        if (!isOaep && parameters != null && !isPremaster) {
            throw new InvalidAlgorithmParameterException("PKCS#1 v1.5 has no parameters");
        }
        Oaep oaep = read(isOaep ? parameters : null);
        if (isOaep && loaded.size() < 2 * oaep.hash.size + 2) {
            throw new InvalidKeyException("a key of " + loaded.bits() + " bits is too short for OAEP with "
                    + oaep.hash.digestName);
        }
        // After an error, the cipher is as before.
        this.encrypts = encrypts;
        this.isPremaster = isPremaster;
        this.oaep = oaep;
        this.key = key;
        this.loaded = loaded;
        reset();
    }

    private Oaep read(AlgorithmParameterSpec parameters) throws InvalidAlgorithmParameterException {
        if (parameters == null) {
            return new Oaep(named, Hash.SHA_1, new byte[0]); // the architecture's mask, for every hash
        }
        if (!(parameters instanceof OAEPParameterSpec oaep)
                || !"MGF1".equalsIgnoreCase(oaep.getMGFAlgorithm())
                || !(oaep.getMGFParameters() instanceof MGF1ParameterSpec mgf1)
                || !(oaep.getPSource() instanceof PSource.PSpecified source)) {
            throw new InvalidAlgorithmParameterException(
                    "OAEP needs an OAEPParameterSpec with MGF1 and a label, not " + parameters);
        }
        Hash hash = Hash.named(oaep.getDigestAlgorithm());
        Hash maskHash = Hash.named(mgf1.getDigestAlgorithm());
        if (hash == null || maskHash == null) {
            throw new InvalidAlgorithmParameterException("zariz lacks a hash of these parameters: "
                    + oaep.getDigestAlgorithm() + ", " + mgf1.getDigestAlgorithm());
        }
        return new Oaep(hash, maskHash, source.getValue());
    }

    @Override
    protected byte[] engineUpdate(byte[] input, int offset, int length) {
        // A longer input is an error, which doFinal reports.
        int most = loaded.size() + 1 - this.length;
        int taken = Math.min(length, most);
        if (taken > 0) {
            System.arraycopy(input, offset, buffer, this.length, taken);
            this.length += taken;
        }
        return null;
    }

    @Override
    protected int engineUpdate(byte[] input, int offset, int length, byte[] output, int outputOffset) {
        engineUpdate(input, offset, length);
        return 0;
    }

    @Override
    protected byte[] engineDoFinal(byte[] input, int offset, int length)
            throws IllegalBlockSizeException, BadPaddingException {
        if (length > 0) {
            engineUpdate(input, offset, length);
        }
        byte[] first = Arrays.copyOf(buffer, this.length);
        reset();
        try {
            return compute(first);
        } finally {
            Arrays.fill(first, (byte) 0);
        }
    }

    private byte[] compute(byte[] input) throws IllegalBlockSizeException, BadPaddingException {
        Operation operation = encrypts
                ? isOaep ? Operation.ENCRYPT_OAEP : Operation.ENCRYPT_PKCS1
                : isOaep ? Operation.DECRYPT_OAEP : Operation.DECRYPT_PKCS1;
        Request request =
                new Request(operation, loaded.handle(), oaep.hash, oaep.maskHash, 0, input, oaep.label);
        Batcher batcher = encrypts ? Batcher.PUBLIC : Batcher.forPrivate(loaded.bits());
        try {
            batcher.call(request);
        } finally {
            Reference.reachabilityFence(key); // the native key would be freed with it
        }
        return switch (request.status()) {
            case LENGTH -> throw new IllegalBlockSizeException(request.message());
            case PADDING -> throw new BadPaddingException(request.message());
            default -> request.result();
        };
    }

    @Override
    protected int engineDoFinal(byte[] input, int offset, int length, byte[] output, int outputOffset)
            throws ShortBufferException, IllegalBlockSizeException, BadPaddingException {
        if (output.length - outputOffset < loaded.size()) {
            throw new ShortBufferException("the output needs " + loaded.size() + " bytes");
        }
        byte[] result = engineDoFinal(input, offset, length);
        System.arraycopy(result, 0, output, outputOffset, result.length);
        int count = result.length;
        Arrays.fill(result, (byte) 0);
        return count;
    }

    private void reset() {
        Arrays.fill(buffer, (byte) 0);
        buffer = buffer.length == loaded.size() + 1 ? buffer : new byte[loaded.size() + 1];
        length = 0;
    }

    @Override
    protected byte[] engineWrap(Key wrapped) throws InvalidKeyException, IllegalBlockSizeException {
        byte[] encoded = wrapped.getEncoded();
        if (encoded == null) {
            throw new InvalidKeyException("the key to wrap has no encoding");
        }
        try {
            return engineDoFinal(encoded, 0, encoded.length);
        } catch (BadPaddingException e) {
            throw new InvalidKeyException("wrapping failed", e);
        } finally {
            Arrays.fill(encoded, (byte) 0);
        }
    }

    @Override
    protected Key engineUnwrap(byte[] wrapped, String algorithm, int type)
            throws InvalidKeyException, NoSuchAlgorithmException {
        if (isPremaster) {
            // SunJSSE does not need this: it decrypts with us, and compares the versions itself.
            throw new InvalidKeyException("premaster secrets are decrypted, not unwrapped");
        }
        byte[] encoded = null;
        try {
            encoded = engineDoFinal(wrapped, 0, wrapped.length);
            return switch (type) {
                case Cipher.SECRET_KEY -> new SecretKeySpec(encoded, algorithm);
                case Cipher.PRIVATE_KEY ->
                    KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
                case Cipher.PUBLIC_KEY ->
                    KeyFactory.getInstance(algorithm).generatePublic(new X509EncodedKeySpec(encoded));
                default -> throw new InvalidKeyException("there is no such type of key: " + type);
            };
        } catch (IllegalBlockSizeException | BadPaddingException | InvalidKeySpecException
                | IllegalArgumentException e) {
            throw new InvalidKeyException("the key cannot be unwrapped", e);
        } finally {
            if (encoded != null) {
                Arrays.fill(encoded, (byte) 0);
            }
        }
    }

    @Override
    protected AlgorithmParameters engineGetParameters() {
        if (!isOaep) {
            return null;
        }
        try {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("OAEP");
            parameters.init(new OAEPParameterSpec(oaep.hash.digestName, "MGF1",
                    new MGF1ParameterSpec(oaep.maskHash.digestName), new PSource.PSpecified(oaep.label)));
            return parameters;
        } catch (GeneralSecurityException e) {
            throw new ProviderException("no provider encodes the parameters of OAEP", e);
        }
    }

    @Override
    protected int engineGetKeySize(Key key) throws InvalidKeyException {
        if (key instanceof PrivateKey it) {
            return Keys.of(it).bits();
        }
        if (key instanceof PublicKey it) {
            return Keys.of(it).bits();
        }
        throw new InvalidKeyException("the key is neither a public nor a private one of RSA");
    }

    @Override
    protected int engineGetOutputSize(int inputLength) {
        return loaded.size();
    }

    @Override
    protected int engineGetBlockSize() {
        return 0;
    }

    @Override
    protected byte[] engineGetIV() {
        return null;
    }
}
