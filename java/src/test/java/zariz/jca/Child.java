package zariz.jca;

import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Security;
import java.security.Signature;
import javax.crypto.Cipher;

/** A program that inserts zariz and uses RSA; {@link LoadingTest} runs it in a Java of its own. */
final class Child {
    private Child() {}

    public static void main(String[] arguments) throws Exception {
        Security.insertProviderAt(new Zariz(), 1);
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        KeyPair pair = generator.generateKeyPair();
        Thread[] threads = new Thread[16];
        for (int i = 0; i < threads.length; i++) {
            byte[] message = ("message " + i).getBytes(StandardCharsets.UTF_8);
            threads[i] = new Thread(() -> use(pair, message));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(pair.getPrivate());
        System.out.println("available " + Zariz.isAvailable() + ", engine " + Zariz.engine());
        System.out.println("cause " + Zariz.unavailabilityCause());
        System.out.println("generator " + generator.getProvider().getName());
        System.out.println("signature " + signature.getProvider().getName());
    }

    private static void use(KeyPair pair, byte[] message) {
        try {
            for (int i = 0; i < 3; i++) {
                Signature signature = Signature.getInstance("SHA256withRSA");
                signature.initSign(pair.getPrivate());
                signature.update(message);
                byte[] signed = signature.sign();
                signature.initVerify(pair.getPublic());
                signature.update(message);
                Cipher cipher = Cipher.getInstance("RSA/ECB/OAEPPadding");
                cipher.init(Cipher.ENCRYPT_MODE, pair.getPublic());
                byte[] encrypted = cipher.doFinal(message);
                cipher.init(Cipher.DECRYPT_MODE, pair.getPrivate());
                if (!signature.verify(signed) || !java.util.Arrays.equals(cipher.doFinal(encrypted), message)) {
                    throw new AssertionError("a result is wrong");
                }
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
