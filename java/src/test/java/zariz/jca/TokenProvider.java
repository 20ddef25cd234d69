package zariz.jca;

import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.SignatureSpi;
import java.util.List;
import java.util.Map;

/** A provider whose one key shows nothing, as that of a token of PKCS#11. */
final class TokenProvider extends Provider {
    private static final long serialVersionUID = 1;

    TokenProvider(PrivateKey shown, PrivateKey inside) {
        super("Token", "1", "for tests");
        putService(new Service(this, "Signature", "SHA256withRSA", Token.class.getName(), List.of(), Map.of()) {
            @Override
            public Object newInstance(Object parameter) {
                return new Token(shown, inside);
            }
        });
    }

    private static final class Token extends SignatureSpi {
        private final PrivateKey shown;
        private final PrivateKey inside;
        private Signature signature;

        Token(PrivateKey shown, PrivateKey inside) {
            this.shown = shown;
            this.inside = inside;
        }

        @Override
        protected void engineInitSign(PrivateKey key) throws InvalidKeyException {
            if (key != shown) {
                throw new InvalidKeyException("another's key");
            }
            try {
                signature = Signature.getInstance("SHA256withRSA", "SunRsaSign");
            } catch (java.security.GeneralSecurityException e) {
                throw new InvalidKeyException(e);
            }
            signature.initSign(inside);
        }

        @Override
        protected void engineInitVerify(PublicKey key) throws InvalidKeyException {
            throw new InvalidKeyException("it only signs");
        }

        @Override
        protected void engineUpdate(byte part) throws SignatureException {
            signature.update(part);
        }

        @Override
        protected void engineUpdate(byte[] part, int offset, int length) throws SignatureException {
            signature.update(part, offset, length);
        }

        @Override
        protected byte[] engineSign() throws SignatureException {
            return signature.sign();
        }

        @Override
        protected boolean engineVerify(byte[] signed) {
            return false;
        }

        @Override
        @Deprecated
        protected void engineSetParameter(String name, Object value) {}

        @Override
        @Deprecated
        protected Object engineGetParameter(String name) {
            return null;
        }
    }
}
