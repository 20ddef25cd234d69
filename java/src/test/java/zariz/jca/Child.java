package zariz.jca;

import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Security;
import java.security.Signature;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.crypto.Cipher;

/** Programs that tests run in a Java of their own. */
final class Child {
    private Child() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "collect" -> collect();
            default -> use();
        }
    }

    /** Inserts zariz and uses RSA. */
    private static void use() throws Exception {
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

    /** Uses keys that nothing else holds, while the collector runs all the time. */
    private static void collect() throws Exception {
        KeyPair pair = Fixtures.newPair(1024);
        PKCS8EncodedKeySpec privateKey = new PKCS8EncodedKeySpec(pair.getPrivate().getEncoded());
        X509EncodedKeySpec publicKey = new X509EncodedKeySpec(pair.getPublic().getEncoded());
        KeyFactory factory = KeyFactory.getInstance("RSA");
        Thread collector = new Thread(() -> {
            while (true) {
                System.gc();
            }
        });
        collector.setDaemon(true);
        collector.start();
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            threads.add(new Thread(() -> {
                try {
                    for (int j = 0; j < 20; j++) {
                        byte[] signed = sign(factory.generatePrivate(privateKey));
                        if (!verify(factory.generatePublic(publicKey), signed)
                                || decrypt(factory.generatePrivate(privateKey), signed).length > 128) {
                            throw new AssertionError("a result is wrong");
                        }
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            }));
            threads.get(i).start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Throwable failure : failures) {
            throw new AssertionError(failure);
        }
        System.out.println("collected");
    }

    private static byte[] sign(PrivateKey key) throws Exception {
        Signature signature = Signature.getInstance("SHA256withRSA", Fixtures.ZARIZ);
        signature.initSign(key);
        return signature.sign();
    }

    private static boolean verify(PublicKey key, byte[] signed) throws Exception {
        Signature signature = Signature.getInstance("SHA256withRSA", Fixtures.ZARIZ);
        signature.initVerify(key);
        return signature.verify(signed);
    }

    private static byte[] decrypt(PrivateKey key, byte[] encrypted) throws Exception {
        Cipher cipher = Cipher.getInstance("RSA/ECB/PKCS1Padding", Fixtures.ZARIZ);
        cipher.init(Cipher.DECRYPT_MODE, key);
        return cipher.doFinal(encrypted);
    }
}
