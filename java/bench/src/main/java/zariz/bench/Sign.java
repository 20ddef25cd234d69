package zariz.bench;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Provider;
import java.security.Security;
import java.security.Signature;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import zariz.jca.Zariz;

/**
 * RSA on 64 threads with one key: each operation as a server makes it, with objects of its own. Read the rate
 * for each second of processor time: with more threads than processors, JMH adds up rates of threads that
 * waited.
 */
@State(Scope.Benchmark)
@Threads(64)
@Warmup(iterations = 3, time = 2, timeUnit = TimeUnit.SECONDS)
@Measurement(iterations = 5, time = 3, timeUnit = TimeUnit.SECONDS)
public class Sign {
    @Param({"SunRsaSign", "Zariz"})
    public String provider;

    @Param("2048")
    public int bits;

    private Provider chosen;
    private KeyPair pair;
    private byte[] signature;

    @Setup
    public void setUp() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(bits);
        pair = generator.generateKeyPair();
        chosen = provider.equals("Zariz") ? new Zariz() : Security.getProvider(provider);
        signature = rs256();
    }

    @Benchmark
    public byte[] rs256() throws GeneralSecurityException {
        Signature signer = Signature.getInstance("SHA256withRSA", chosen);
        signer.initSign(pair.getPrivate());
        signer.update(new byte[100]);
        return signer.sign();
    }

    @Benchmark
    public boolean verify() throws GeneralSecurityException {
        Signature verifier = Signature.getInstance("SHA256withRSA", chosen);
        verifier.initVerify(pair.getPublic());
        verifier.update(new byte[100]);
        return verifier.verify(signature);
    }
}
