import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Security;
import java.security.Signature;
import java.time.Instant;
import java.util.Base64;
import java.util.concurrent.Executors;
import zariz.jca.Zariz;

/**
 * A token issuer: {@code GET /token?NAME} answers with a token (RS256) for NAME. Each request has a virtual
 * thread (Java 21 or newer), and those that sign at the same time share batches.
 *
 * <pre>
 * java -cp target/java/zariz-jca-0.1.0.jar java/examples/Issuer.java 8080
 * </pre>
 *
 * A second argument, {@code without}, leaves zariz out, to compare.
 */
public class Issuer {
    private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();
    private static final String HEADER = base64("{\"alg\":\"RS256\",\"typ\":\"JWT\"}");

    public static void main(String[] arguments) throws Exception {
        boolean without = arguments.length > 1 && arguments[1].equals("without");
        if (!without) {
            Security.insertProviderAt(new Zariz(), 1);
        }
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        // A real issuer reads its key from a file, and publishes the public half.
        KeyPair pair = generator.generateKeyPair();
        InetAddress here = InetAddress.getLoopbackAddress();
        HttpServer server = HttpServer.create(new InetSocketAddress(here, Integer.parseInt(arguments[0])), 1024);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/token", exchange -> {
            try (exchange) {
                byte[] token = token(exchange.getRequestURI().getQuery(), pair).getBytes(StandardCharsets.US_ASCII);
                exchange.sendResponseHeaders(200, token.length);
                exchange.getResponseBody().write(token);
            } catch (GeneralSecurityException e) {
                throw new IOException(e);
            }
        });
        server.start();
        System.out.println("ready, " + (without ? "without zariz" : "zariz's engine: " + Zariz.engine()));
    }

    private static String token(String name, KeyPair pair) throws GeneralSecurityException {
        String subject = name == null ? "" : name.replaceAll("[^A-Za-z0-9-]", "");
        String claims = "{\"sub\":\"" + subject + "\",\"iat\":" + Instant.now().getEpochSecond() + "}";
        String signed = HEADER + "." + base64(claims);
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(pair.getPrivate());
        signature.update(signed.getBytes(StandardCharsets.US_ASCII));
        return signed + "." + BASE64.encodeToString(signature.sign());
    }

    private static String base64(String text) {
        return BASE64.encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
