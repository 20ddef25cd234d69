package zariz.jca;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.InvalidParameterException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.ProviderException;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.SignatureException;
import java.security.SignatureSpi;
import java.security.interfaces.RSAKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.MGF1ParameterSpec;
import java.security.spec.PSSParameterSpec;
import zariz.jca.Request.Operation;

/** Signatures by PKCS#1 v1.5, or by PSS. Java hashes the message, zariz signs or verifies the digest. */
final class RsaSignature extends SignatureSpi {
    /** The hash of the message; for PSS also that of MGF1, and the salt's length. */
    private record Parameters(Hash hash, Hash maskHash, int saltLength) {}

    /** Whether by PSS. */
    private final boolean isPss;
    /** Those that the program set; for PSS null until then. */
    private Parameters chosen;
    /** Those in use: the chosen ones, else those that the key is restricted to. */
    private Parameters parameters;

    /** The key object, which keeps the native key alive. */
    private Key key;
    private Keys.Loaded loaded;
    private MessageDigest digest;
    /** Whether a part of the message has been read. */
    private boolean begun;

    private RsaSignature(boolean isPss, Parameters parameters) {
        this.isPss = isPss;
        chosen = parameters;
        this.parameters = parameters;
    }

    static RsaSignature pkcs1(Hash hash) {
        return new RsaSignature(false, new Parameters(hash, Hash.SHA_1, 0));
    }

    static RsaSignature pss() {
        return new RsaSignature(true, null);
    }

    @Override
    protected void engineInitSign(PrivateKey key) throws InvalidKeyException {
        initialize(key, Keys.of(key));
    }

    @Override
    protected void engineInitSign(PrivateKey key, SecureRandom random) throws InvalidKeyException {
        engineInitSign(key); // salts are random numbers of the operating system
    }

    @Override
    protected void engineInitVerify(PublicKey key) throws InvalidKeyException {
        initialize(key, Keys.of(key));
    }

    private void initialize(Key key, Keys.Loaded loaded) throws InvalidKeyException {
        if (!isPss && !"RSA".equalsIgnoreCase(key.getAlgorithm())) {
            throw new InvalidKeyException("the key is for PSS only");
        }
        Parameters parameters = chosen;
        try {
            if (parameters == null && restriction(key) != null) {
                parameters = read(restriction(key));
            }
            check(parameters, key, loaded);
        } catch (InvalidAlgorithmParameterException e) {
            throw new InvalidKeyException("the key does not go with the parameters: " + e.getMessage(), e);
        }
        this.key = key;
        this.loaded = loaded;
        this.parameters = parameters;
        reset();
    }

    /** The parameters that a key is restricted to; null if it is not. */
    private static AlgorithmParameterSpec restriction(Key key) {
        return key instanceof RSAKey rsa ? rsa.getParams() : null;
    }

    /** Checks parameters, if there are any, against what the key is restricted to, and its length. */
    private void check(Parameters parameters, Key key, Keys.Loaded loaded) throws InvalidAlgorithmParameterException {
        if (!isPss || parameters == null) {
            return;
        }
        AlgorithmParameterSpec allowed = restriction(key);
        if (allowed != null) {
            Parameters only = read(allowed);
            if (only.hash != parameters.hash
                    || only.maskHash != parameters.maskHash
                    || only.saltLength > parameters.saltLength) {
                throw new InvalidAlgorithmParameterException("the key is restricted to " + allowed);
            }
        }
        if ((loaded.bits() + 6) / 8 < parameters.hash.size + (long) parameters.saltLength + 2) {
            throw new InvalidAlgorithmParameterException("a key of " + loaded.bits() + " bits is too short for "
                    + parameters.hash.digestName + " with a salt of " + parameters.saltLength + " bytes");
        }
    }

    @Override
    protected void engineSetParameter(AlgorithmParameterSpec parameters) throws InvalidAlgorithmParameterException {
        if (!isPss) {
            if (parameters != null) {
                throw new InvalidAlgorithmParameterException("PKCS#1 v1.5 has no parameters");
            }
            return;
        }
        if (begun) {
            throw new ProviderException("parameters cannot be set while a message is being read");
        }
        Parameters read = read(parameters);
        if (key != null) {
            check(read, key, loaded);
        }
        chosen = read;
        this.parameters = read;
        reset();
    }

    private static Parameters read(AlgorithmParameterSpec parameters) throws InvalidAlgorithmParameterException {
        if (!(parameters instanceof PSSParameterSpec pss)) {
            throw new InvalidAlgorithmParameterException("PSS needs a PSSParameterSpec, not " + parameters);
        }
        Hash hash = Hash.named(pss.getDigestAlgorithm());
        Hash maskHash = maskHash(pss);
        if (hash == null || maskHash == null || pss.getTrailerField() != PSSParameterSpec.TRAILER_FIELD_BC) {
            throw new InvalidAlgorithmParameterException("zariz has no PSS with " + pss);
        }
        return new Parameters(hash, maskHash, pss.getSaltLength());
    }

    /** The hash of MGF1; null if the mask function is another. */
    private static Hash maskHash(PSSParameterSpec pss) {
        boolean isMgf1 = "MGF1".equalsIgnoreCase(pss.getMGFAlgorithm());
        return isMgf1 && pss.getMGFParameters() instanceof MGF1ParameterSpec mgf1
                ? Hash.named(mgf1.getDigestAlgorithm())
                : null;
    }

    @Override
    protected AlgorithmParameters engineGetParameters() {
        if (!isPss || parameters == null) {
            return null;
        }
        try {
            AlgorithmParameters encoded = AlgorithmParameters.getInstance("RSASSA-PSS");
            encoded.init(new PSSParameterSpec(parameters.hash.digestName, "MGF1",
                    new MGF1ParameterSpec(parameters.maskHash.digestName), parameters.saltLength,
                    PSSParameterSpec.TRAILER_FIELD_BC));
            return encoded;
        } catch (GeneralSecurityException e) {
            throw new ProviderException("no provider encodes the parameters of PSS", e);
        }
    }

    @Override
    protected void engineUpdate(byte part) throws SignatureException {
        begin().update(part);
    }

    @Override
    protected void engineUpdate(byte[] part, int offset, int length) throws SignatureException {
        begin().update(part, offset, length);
    }

    @Override
    protected void engineUpdate(ByteBuffer part) {
        try {
            begin().update(part);
        } catch (SignatureException e) {
            throw new ProviderException(e); // this method declares no exception
        }
    }

    private MessageDigest begin() throws SignatureException {
        if (parameters == null) {
            throw new SignatureException("PSS needs parameters: call setParameter with a PSSParameterSpec");
        }
        if (digest == null) {
            digest = parameters.hash.newDigest();
        }
        begun = true;
        return digest;
    }

    private void reset() {
        if (digest != null && parameters != null && digest.getAlgorithm().equals(parameters.hash.digestName)) {
            digest.reset();
        } else {
            digest = null;
        }
        begun = false;
    }

    @Override
    protected byte[] engineSign() throws SignatureException {
        Request request = request(isPss ? Operation.SIGN_PSS : Operation.SIGN_PKCS1, new byte[0]);
        try {
            Batcher.forPrivate(loaded.bits()).call(request);
        } finally {
            Reference.reachabilityFence(key); // the native key would be freed with it
        }
        if (request.status() != Request.Status.DONE) {
            throw new SignatureException(request.message());
        }
        return request.result();
    }

    @Override
    protected boolean engineVerify(byte[] signature) throws SignatureException {
        if (signature.length != loaded.size()) {
            reset();
            throw new SignatureException("the signature has " + signature.length + " bytes; with this key it has "
                    + loaded.size());
        }
        Request request = request(isPss ? Operation.VERIFY_PSS : Operation.VERIFY_PKCS1, signature);
        try {
            Batcher.PUBLIC.call(request);
        } finally {
            Reference.reachabilityFence(key); // the native key would be freed with it
        }
        return switch (request.status()) {
            case DONE -> true;
            case MISMATCH, PADDING -> false; // PADDING: it is not below the modulus
            default -> throw new SignatureException(request.message());
        };
    }

    private Request request(Operation operation, byte[] second) throws SignatureException {
        byte[] message = begin().digest();
        begun = false;
        return new Request(operation, loaded.handle(), parameters.hash, parameters.maskHash, parameters.saltLength,
                message, second);
    }

    @Override
    @Deprecated
    protected void engineSetParameter(String name, Object value) {
        throw new InvalidParameterException("use setParameter(AlgorithmParameterSpec)");
    }

    @Override
    @Deprecated
    protected Object engineGetParameter(String name) {
        throw new InvalidParameterException("use getParameters()");
    }
}
