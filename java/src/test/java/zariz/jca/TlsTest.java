package zariz.jca;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Handshakes of SunJSSE, with a certificate on both sides, after zariz was inserted. */
class TlsTest {
    private static final String STATIC_RSA = "TLS_RSA_WITH_AES_128_GCM_SHA256";

    @TempDir
    static Path folder;

    private static KeyStore server;
    private static KeyStore client;

    @BeforeAll
    static void keys() throws Exception {
        server = Fixtures.store(folder, "server");
        client = Fixtures.store(folder, "client");
    }

    private static SSLContext context(KeyStore own, KeyStore trusted) throws Exception {
        KeyStore others = KeyStore.getInstance("PKCS12");
        others.load(null, null);
        String alias = trusted.aliases().nextElement();
        others.setCertificateEntry(alias, trusted.getCertificate(alias));
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(own, Fixtures.PASSWORD);
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(others);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    /** One handshake and a byte each way; the client's session. */
    private static String handshake(String protocol, String suite, KeyStore trustedByServer) throws Exception {
        InetAddress here = InetAddress.getLoopbackAddress();
        SSLContext serving = context(server, trustedByServer);
        try (SSLServerSocket listener =
                (SSLServerSocket) serving.getServerSocketFactory().createServerSocket(0, 1, here)) {
            listener.setNeedClientAuth(true);
            listener.setEnabledProtocols(new String[] {protocol});
            if (suite != null) {
                listener.setEnabledCipherSuites(new String[] {suite});
            }
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> {
                try (SSLSocket socket = (SSLSocket) listener.accept()) {
                    socket.getOutputStream().write(socket.getInputStream().read() + 1);
                    assertEquals("CN=client", socket.getSession().getPeerPrincipal().getName());
                } catch (IOException e) {
                    throw new CompletionException(e);
                }
            });
            SSLContext asking = context(client, server);
            try (SSLSocket socket =
                    (SSLSocket) asking.getSocketFactory().createSocket(here, listener.getLocalPort())) {
                socket.setEnabledProtocols(new String[] {protocol});
                if (suite != null) {
                    socket.setEnabledCipherSuites(new String[] {suite});
                }
                socket.getOutputStream().write(41);
                assertEquals(42, socket.getInputStream().read());
                served.join();
                return socket.getSession().getProtocol() + " " + socket.getSession().getCipherSuite();
            }
        }
    }

    @Test
    void bothSidesSignIn13AndIn12() throws Exception {
        Fixtures.withZarizFirst(() -> {
            for (String protocol : new String[] {"TLSv1.3", "TLSv1.2"}) {
                long operations = Fixtures.privateOperations(
                        () -> assertTrue(handshake(protocol, null, client).startsWith(protocol + " TLS_")));
                assertEquals(2, operations, protocol + ": a signature of each side");
            }
        });
    }

    /** Only in 1.2: the client encrypts the premaster secret with the server's key. */
    @Test
    void theServerDecryptsThePremasterSecret() throws Exception {
        Fixtures.withZarizFirst(() -> {
            long operations = Fixtures.privateOperations(
                    () -> assertEquals("TLSv1.2 " + STATIC_RSA, handshake("TLSv1.2", STATIC_RSA, client)));
            assertEquals(2, operations, "the server decrypts, the client signs");
        });
    }

    @Test
    void aClientThatIsNotTrustedIsRefused() throws Exception {
        Fixtures.withZarizFirst(() -> assertThrows(IOException.class, () -> {
            try {
                handshake("TLSv1.2", null, server);
            } catch (CompletionException e) {
                throw new SSLException(e);
            }
        }));
    }
}
