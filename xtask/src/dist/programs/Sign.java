import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Security;
import java.security.Signature;
import zariz.jca.Zariz;

class Sign {
    public static void main(String[] arguments) throws Exception {
        Security.insertProviderAt(new Zariz(), 1);
        KeyPair pair = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(pair.getPrivate());
        byte[] signed = signature.sign();
        signature.initVerify(pair.getPublic());
        if (!signature.verify(signed) || Zariz.metrics().privateOperations() != 1) {
            throw new AssertionError("zariz did not sign", Zariz.unavailabilityCause());
        }
        System.out.println("zariz " + Zariz.version() + " for Java signed on " + Zariz.engine());
    }
}
