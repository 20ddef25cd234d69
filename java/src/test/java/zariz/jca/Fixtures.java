package zariz.jca;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.Provider;
import java.security.Security;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;

/** What several tests use. */
final class Fixtures {
    static final Provider ZARIZ = new Zariz();
    static final char[] PASSWORD = "password".toCharArray();

    private static final Map<Integer, KeyPair> PAIRS = new ConcurrentHashMap<>();

    private Fixtures() {}

    /** A key pair of that length, the same for all tests. */
    static KeyPair pair(int bits) {
        return PAIRS.computeIfAbsent(bits, Fixtures::newPair);
    }

    static KeyPair newPair(int bits) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA", ZARIZ);
            generator.initialize(bits);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** Something that throws. */
    interface Action {
        void run() throws Exception;
    }

    /** Runs it with zariz before all other providers, as a program that inserts it. */
    static void withZarizFirst(Action action) throws Exception {
        assertEquals(1, Security.insertProviderAt(ZARIZ, 1));
        try {
            action.run();
        } finally {
            Security.removeProvider(ZARIZ.getName());
        }
    }

    /** How many private operations zariz does meanwhile. */
    static long privateOperations(Action action) throws Exception {
        long before = Zariz.metrics().privateOperations();
        action.run();
        return Zariz.metrics().privateOperations() - before;
    }

    /** Platform threads; on Java 21 and later also virtual ones. */
    static List<ThreadFactory> threadFactories() throws Exception {
        List<ThreadFactory> factories = new ArrayList<>(List.of(Thread::new));
        if (Runtime.version().feature() >= 21) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            factories.add((ThreadFactory) type.getMethod("factory").invoke(builder));
        }
        return factories;
    }

    /** A store with a new RSA-2048 key and its certificate for localhost, signed by itself. */
    static KeyStore store(Path folder, String alias) throws Exception {
        Path file = folder.resolve(alias + ".p12");
        String output = output(List.of(tool("keytool"), "-genkeypair", "-alias", alias, "-keyalg", "RSA", "-keysize",
                "2048", "-sigalg", "SHA256withRSA", "-dname", "CN=" + alias, "-ext", "san=dns:localhost", "-validity",
                "365", "-keystore", file.toString(), "-storetype", "PKCS12", "-storepass", new String(PASSWORD)));
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        } catch (IOException e) {
            throw new AssertionError(output, e);
        }
        return store;
    }

    /** A program of the Java that runs us. */
    static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    /** What {@link Child} prints in a Java of its own, with these options. */
    static String child(List<String> options, String... arguments) throws Exception {
        return childAfter(":", options, arguments);
    }

    /** The same, after a command of the shell. */
    static String childAfter(String first, List<String> options, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(
                List.of("sh", "-c", first + "; exec \"$@\"", "sh", tool("java"), "-Xcheck:jni"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(Child.class.getName());
        command.addAll(List.of(arguments));
        return output(command);
    }

    private static String output(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        return output;
    }
}
