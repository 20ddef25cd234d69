package zariz.jca;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.security.KeyPair;
import java.security.Signature;
import java.security.SignatureException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.BadPaddingException;
import javax.crypto.Cipher;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ThreadsTest {
    private static final int THREADS = 64;
    private static final int[] LENGTHS = {2048, 2048, 2048, 1024, 3072, 4104};

    /** Runs it on many threads at once; the first failure is thrown. */
    private static void onThreads(ThreadFactory factory, int count, Work work) throws Exception {
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            Thread thread = factory.newThread(() -> {
                try {
                    start.await();
                    work.run(number);
                } catch (Throwable e) {
                    failures.add(e);
                }
            });
            thread.start();
            threads.add(thread);
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        for (Throwable failure : failures) {
            throw new AssertionError(failure);
        }
    }

    private interface Work {
        void run(int thread) throws Exception;
    }

    /** Each thread has messages and faults of its own; some have other keys, or decrypt. */
    private static void mixture(int thread) throws Exception {
        KeyPair pair = Fixtures.pair(LENGTHS[thread % LENGTHS.length]);
        for (int i = 0; i < 6; i++) {
            byte[] message = ("message " + i + " of " + thread).getBytes(UTF_8);
            Signature signature = Signature.getInstance("SHA256withRSA", Fixtures.ZARIZ);
            signature.initSign(pair.getPrivate());
            signature.update(message);
            byte[] signed = signature.sign();
            Signature expected = Signature.getInstance("SHA256withRSA", "SunRsaSign");
            expected.initVerify(pair.getPublic());
            expected.update(message);
            assertTrue(expected.verify(signed));
            signature.initVerify(pair.getPublic());
            boolean isRight = (thread + i) % 3 != 0;
            signed[40] ^= (byte) (isRight ? 0 : 1);
            signature.update(message);
            assertEquals(isRight, signature.verify(signed));
            assertThrows(SignatureException.class, () -> signature.verify(new byte[1]));
            if (thread % 2 == 0) {
                Cipher cipher = Cipher.getInstance("RSA/ECB/OAEPPadding", Fixtures.ZARIZ);
                cipher.init(Cipher.ENCRYPT_MODE, pair.getPublic());
                byte[] encrypted = cipher.doFinal(message);
                cipher.init(Cipher.DECRYPT_MODE, pair.getPrivate());
                assertArrayEquals(message, cipher.doFinal(encrypted));
                encrypted[encrypted.length - 1] ^= 1;
                assertThrows(BadPaddingException.class, () -> cipher.doFinal(encrypted));
            }
        }
    }

    @Test
    void everyThreadGetsItsOwnResultAndBadRequestsFailAlone() throws Exception {
        for (int bits : LENGTHS) {
            Fixtures.pair(bits);
        }
        for (ThreadFactory factory : Fixtures.threadFactories()) {
            onThreads(factory, THREADS, ThreadsTest::mixture);
        }
    }

    /** Other programs may have the processors meanwhile, so there are several tries. */
    @Test
    void manyThreadsShareBatches() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        for (ThreadFactory factory : Fixtures.threadFactories()) {
            double mean = 0;
            for (int tries = 0; tries < 20 && mean < 4; tries++) {
                Zariz.Metrics before = Zariz.metrics();
                onThreads(factory, THREADS, thread -> sign(pair, 20));
                Zariz.Metrics after = Zariz.metrics();
                long operations = after.privateOperations() - before.privateOperations();
                assertEquals(THREADS * 20, operations);
                mean = (double) operations / (after.privateBatches() - before.privateBatches());
            }
            assertTrue(mean >= 4, "the mean batch of 64 threads has " + mean);
        }
    }

    private static void sign(KeyPair pair, int times) throws Exception {
        Signature signature = Signature.getInstance("SHA256withRSA", Fixtures.ZARIZ);
        signature.initSign(pair.getPrivate());
        for (int i = 0; i < times; i++) {
            signature.update((byte) i);
            signature.sign();
        }
    }

    @Test
    void anInterruptedThreadGetsItsResultAndStaysInterrupted() throws Exception {
        KeyPair pair = Fixtures.pair(2048);
        for (ThreadFactory factory : Fixtures.threadFactories()) {
            onThreads(factory, 16, thread -> {
                for (int i = 0; i < 20; i++) {
                    boolean interrupts = (thread + i) % 2 == 0;
                    if (interrupts) {
                        Thread.currentThread().interrupt();
                    }
                    sign(pair, 1);
                    assertEquals(interrupts, Thread.interrupted());
                }
            });
        }
    }

    /** The JVM tells of every virtual thread that would wait on its carrier. */
    @Test
    void virtualThreadsAreNotPinnedWhileTheyWait(@TempDir Path folder) throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "virtual threads are in Java since 21");
        KeyPair pair = Fixtures.pair(2048);
        ThreadFactory virtual = Fixtures.threadFactories().get(1);
        assertEquals(0, pinned(folder.resolve("ours.jfr"), virtual, thread -> sign(pair, 20)));
        assertTrue(pinned(folder.resolve("initializer.jfr"), virtual, thread -> Initialized.now()) > 0);
    }

    /** The JVM cannot take a thread from its carrier while it initializes a class. */
    private static final class Initialized {
        static {
            LockSupport.parkNanos(5_000_000);
        }

        static void now() {}
    }

    /** How often code of this package waited on a carrier. */
    private static long pinned(Path file, ThreadFactory factory, Work work) throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("jdk.VirtualThreadPinned").withoutThreshold().withStackTrace();
            recording.start();
            onThreads(factory, 256, work);
            recording.stop();
            recording.dump(file);
        }
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.toString().contains("zariz.jca"))
                .count();
    }
}
