package zariz.jca;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidParameterException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGeneratorSpi;
import java.security.ProviderException;
import java.security.SecureRandom;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.util.Arrays;

/**
 * Makes keys by FIPS 186-5 A.1.3. The platform's {@link KeyFactory} makes the key objects, so other providers
 * accept them. The random numbers are the operating system's.
 */
final class RsaKeyPairGenerator extends KeyPairGeneratorSpi {
    private static final int MIN_BITS = 1024, MAX_BITS = 16384;

    private int bits = 3072;
    private BigInteger exponent = RSAKeyGenParameterSpec.F4;

    @Override
    public void initialize(int bits, SecureRandom random) {
        if (bits < MIN_BITS || bits > MAX_BITS) {
            throw new InvalidParameterException(
                    "zariz makes keys of " + MIN_BITS + " to " + MAX_BITS + " bits, not of " + bits);
        }
        this.bits = bits;
        exponent = RSAKeyGenParameterSpec.F4;
    }

    @Override
    public void initialize(AlgorithmParameterSpec parameters, SecureRandom random)
            throws InvalidAlgorithmParameterException {
        if (!(parameters instanceof RSAKeyGenParameterSpec rsa) || rsa.getKeyParams() != null) {
            throw new InvalidAlgorithmParameterException("zariz needs an RSAKeyGenParameterSpec without parameters "
                    + "of the key, not " + parameters);
        }
        BigInteger exponent = rsa.getPublicExponent();
        if (exponent.compareTo(RSAKeyGenParameterSpec.F4) < 0 || !exponent.testBit(0) || exponent.bitLength() > 256) {
            throw new InvalidAlgorithmParameterException(
                    "the public exponent must be odd, at least 65537, and have at most 256 bits: " + exponent);
        }
        try {
            initialize(rsa.getKeysize(), random);
        } catch (InvalidParameterException e) {
            throw new InvalidAlgorithmParameterException(e.getMessage(), e);
        }
        this.exponent = exponent;
    }

    @Override
    public KeyPair generateKeyPair() {
        Request request = new Request(Request.Operation.GENERATE, bits, exponent.toByteArray(), new byte[0]);
        byte[] encoded = request.call().result();
        try {
            KeyFactory factory = KeyFactory.getInstance("RSA");
            RSAPrivateCrtKey key = (RSAPrivateCrtKey) factory.generatePrivate(new PKCS8EncodedKeySpec(encoded));
            RSAPublicKeySpec numbers = new RSAPublicKeySpec(key.getModulus(), key.getPublicExponent());
            return new KeyPair(factory.generatePublic(numbers), key);
        } catch (GeneralSecurityException e) {
            throw new ProviderException("no provider reads the new key", e);
        } finally {
            Arrays.fill(encoded, (byte) 0);
        }
    }
}
