package zariz.jca;

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
    /** Whether signatures are by PSS; otherwise by PKCS#1 v1.5. */
    private final boolean isPss;
    /** For PSS, null until there are parameters. */
    private Hash hash;
    private Hash maskHash = Hash.SHA_1;
    private int saltLength;

    /** The key object, which keeps the native key alive. */
    private Key key;
    private Keys.Loaded loaded;
    private MessageDigest digest;
    /** Whether a part of the message has been read. */
    private boolean begun;

    private RsaSignature(boolean isPss, Hash hash) {
        this.isPss = isPss;
        this.hash = hash;
    }

    static RsaSignature pkcs1(Hash hash) {
        return new RsaSignature(false, hash);
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
        AlgorithmParameterSpec allowed = key instanceof RSAKey rsa ? rsa.getParams() : null;
        try {
            if (allowed != null && hash != null) {
                checkAllowed(allowed);
            } else if (allowed != null) {
                setParameters(allowed);
            }
            checkSize(loaded);
        } catch (InvalidAlgorithmParameterException e) {
            throw new InvalidKeyException("the key does not go with the parameters: " + e.getMessage(), e);
        }
        this.key = key;
        this.loaded = loaded;
        reset();
    }

    /** Checks the parameters against those that the key is restricted to. */
    private void checkAllowed(AlgorithmParameterSpec allowed) throws InvalidAlgorithmParameterException {
        if (!(allowed instanceof PSSParameterSpec only)
                || Hash.named(only.getDigestAlgorithm()) != hash
                || maskHash(only) != maskHash
                || only.getSaltLength() > saltLength) {
            throw new InvalidAlgorithmParameterException("the key is restricted to " + allowed);
        }
    }

    private void checkSize(Keys.Loaded loaded) throws InvalidAlgorithmParameterException {
        if (isPss && hash != null && (loaded.bits() + 6) / 8 < hash.size + (long) saltLength + 2) {
            throw new InvalidAlgorithmParameterException("a key of " + loaded.bits() + " bits is too short for "
                    + hash.digestName + " with a salt of " + saltLength + " bytes");
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
        Hash hash = this.hash;
        Hash maskHash = this.maskHash;
        int saltLength = this.saltLength;
        try {
            setParameters(parameters);
            if (key instanceof RSAKey rsa && rsa.getParams() != null) {
                checkAllowed(rsa.getParams());
            }
            if (loaded != null) {
                checkSize(loaded);
                reset();
            }
        } catch (InvalidAlgorithmParameterException e) {
            this.hash = hash;
            this.maskHash = maskHash;
            this.saltLength = saltLength;
            throw e;
        }
    }

    private void setParameters(AlgorithmParameterSpec parameters) throws InvalidAlgorithmParameterException {
        if (!(parameters instanceof PSSParameterSpec pss)) {
            throw new InvalidAlgorithmParameterException("PSS needs a PSSParameterSpec, not " + parameters);
        }
        Hash hash = Hash.named(pss.getDigestAlgorithm());
        Hash maskHash = maskHash(pss);
        if (hash == null || maskHash == null || pss.getTrailerField() != PSSParameterSpec.TRAILER_FIELD_BC) {
            throw new InvalidAlgorithmParameterException("zariz has no PSS with " + pss);
        }
        this.hash = hash;
        this.maskHash = maskHash;
        saltLength = pss.getSaltLength();
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
        if (!isPss || hash == null) {
            return null;
        }
        try {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("RSASSA-PSS");
            parameters.init(new PSSParameterSpec(hash.digestName, "MGF1", new MGF1ParameterSpec(maskHash.digestName),
                    saltLength, PSSParameterSpec.TRAILER_FIELD_BC));
            return parameters;
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
        if (hash == null) {
            throw new SignatureException("PSS needs parameters: call setParameter with a PSSParameterSpec");
        }
        if (digest == null) {
            digest = hash.newDigest();
        }
        begun = true;
        return digest;
    }

    private void reset() {
        if (digest != null && digest.getAlgorithm().equals(hash.digestName)) {
            digest.reset();
        } else {
            digest = null;
        }
        begun = false;
    }

    @Override
    protected byte[] engineSign() throws SignatureException {
        Request request = request(isPss ? Operation.SIGN_PSS : Operation.SIGN_PKCS1, new byte[0]);
        Batcher.forPrivate(loaded.bits()).call(request);
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
        return switch (Batcher.PUBLIC.call(request).status()) {
            case DONE -> true;
            case MISMATCH, PADDING -> false; // PADDING: it is not below the modulus
            default -> throw new SignatureException(request.message());
        };
    }

    private Request request(Operation operation, byte[] second) throws SignatureException {
        byte[] message = begin().digest();
        begun = false;
        return new Request(operation, loaded.handle(), hash, maskHash, saltLength, message, second);
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
