package zariz.jca;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.RSADecrypter;
import com.nimbusds.jose.crypto.RSAEncrypter;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertPath;
import java.security.cert.CertificateFactory;
import java.security.interfaces.RSAPublicKey;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.zip.ZipFile;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import jdk.security.jarsigner.JarSigner;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that never heard of zariz, after it was inserted. */
class LibrariesTest {
    private static final Logger TOMCAT = Logger.getLogger("org.apache");

    static {
        TOMCAT.setLevel(Level.SEVERE);
    }

    @TempDir
    Path folder;

    @Test
    void nimbusSignsAndDecryptsTokens() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        RSAPublicKey key = (RSAPublicKey) pair.getPublic();
        Fixtures.withZarizFirst(() -> {
            for (JWSAlgorithm algorithm : new JWSAlgorithm[] {
                JWSAlgorithm.RS256, JWSAlgorithm.RS512, JWSAlgorithm.PS256, JWSAlgorithm.PS384
            }) {
                JWSObject token = new JWSObject(new JWSHeader(algorithm), new Payload("claims"));
                assertEquals(1, Fixtures.privateOperations(() -> token.sign(new RSASSASigner(pair.getPrivate()))));
                JWSObject read = JWSObject.parse(token.serialize());
                assertTrue(read.verify(new RSASSAVerifier(key)), algorithm.getName());
                JWSObject other = JWSObject.parse(token.serialize().replace("Y2xhaW1z", "Y2xhaW1Z"));
                assertFalse(other.verify(new RSASSAVerifier(key)), algorithm.getName());
            }
            JWEHeader header = new JWEHeader(JWEAlgorithm.RSA_OAEP_256, EncryptionMethod.A128GCM);
            JWEObject sealed = new JWEObject(header, new Payload("claims"));
            sealed.encrypt(new RSAEncrypter(key));
            JWEObject read = JWEObject.parse(sealed.serialize());
            assertEquals(1, Fixtures.privateOperations(() -> read.decrypt(new RSADecrypter(pair.getPrivate()))));
            assertEquals("claims", read.getPayload().toString());
            JWEObject other = JWEObject.parse(sealed.serialize());
            PrivateKey wrong = Fixtures.newPair(2048).getPrivate();
            assertThrows(JOSEException.class, () -> other.decrypt(new RSADecrypter(wrong)));
        });
    }

    @Test
    void jarsignerSignsAJarAndJavaChecksIt() throws Exception {
        Path plain = folder.resolve("plain.jar");
        try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(plain))) {
            jar.putNextEntry(new JarEntry("entry"));
            jar.write("content".getBytes(UTF_8));
        }
        KeyStore store = Fixtures.store(folder, "signer");
        PrivateKey key = (PrivateKey) store.getKey("signer", Fixtures.PASSWORD);
        CertPath path = CertificateFactory.getInstance("X.509")
                .generateCertPath(List.of(store.getCertificate("signer")));
        Path signed = folder.resolve("signed.jar");
        Fixtures.withZarizFirst(() -> {
            long operations = Fixtures.privateOperations(() -> {
                JarSigner signer = new JarSigner.Builder(key, path).signatureAlgorithm("SHA256withRSA").build();
                try (ZipFile in = new ZipFile(plain.toFile()); OutputStream out = Files.newOutputStream(signed)) {
                    signer.sign(in, out);
                }
            });
            assertEquals(1, operations);
        });
        try (JarFile jar = new JarFile(signed.toFile(), true)) {
            JarEntry entry = jar.getJarEntry("entry");
            assertArrayEquals("content".getBytes(UTF_8), jar.getInputStream(entry).readAllBytes());
            assertEquals(store.getCertificate("signer"), entry.getCodeSigners()[0].getSignerCertPath().getCertificates().get(0));
        }
    }

    @Test
    void tomcatServesHttps() throws Exception {
        KeyStore store = Fixtures.store(folder, "server");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setSecure(true);
        connector.setScheme("https");
        connector.setProperty("SSLEnabled", "true");
        SSLHostConfig tls = new SSLHostConfig();
        SSLHostConfigCertificate certificate = new SSLHostConfigCertificate(tls, SSLHostConfigCertificate.Type.RSA);
        certificate.setCertificateKeystoreFile(folder.resolve("server.p12").toString());
        certificate.setCertificateKeystorePassword(new String(Fixtures.PASSWORD));
        tls.addCertificate(certificate);
        connector.addSslHostConfig(tls);
        tomcat.setConnector(connector);
        Tomcat.addServlet(tomcat.addContext("", folder.toString()), "hello", new Hello())
                .addMapping("/hello");
        Fixtures.withZarizFirst(() -> {
            tomcat.start();
            try {
                KeyStore trusted = KeyStore.getInstance("PKCS12");
                trusted.load(null, null);
                trusted.setCertificateEntry("server", store.getCertificate("server"));
                TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
                trust.init(trusted);
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(null, trust.getTrustManagers(), null);
                HttpClient client = HttpClient.newBuilder().sslContext(context).build();
                URI address = URI.create("https://localhost:" + connector.getLocalPort() + "/hello");
                long operations = Fixtures.privateOperations(() -> assertEquals("hello",
                        client.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString()).body()));
                assertEquals(1, operations);
            } finally {
                tomcat.stop();
                tomcat.destroy();
            }
        });
    }

    private static final class Hello extends jakarta.servlet.http.HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(jakarta.servlet.http.HttpServletRequest request,
                jakarta.servlet.http.HttpServletResponse response) throws java.io.IOException {
            response.getWriter().print("hello");
        }
    }
}
