package zariz.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * An open loop of requests to {@code java/examples/Issuer.java}: {@code Load PORT RATE SECONDS}. Requests are
 * due at fixed times, whatever the server does; a latency counts from when its request was due.
 */
public final class Load {
    /** The JDK's server closes more than 200 that are idle. */
    private static final int CONNECTIONS = 128;

    private Load() {}

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        double rate = Double.parseDouble(arguments[1]);
        int count = (int) (rate * Double.parseDouble(arguments[2]));
        long[] latencies = new long[count];
        AtomicInteger next = new AtomicInteger();
        long start = System.nanoTime() + 200_000_000;
        Thread[] threads = new Thread[CONNECTIONS];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> connection(port, next, latencies, start, 1e9 / rate));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        Arrays.sort(latencies);
        System.out.printf("asked %.0f/s, answered %.0f/s, median %.1f ms, p99 %.1f ms%n", rate, count / seconds,
                latencies[count / 2] / 1e6, latencies[count * 99 / 100] / 1e6);
    }

    private static void connection(int port, AtomicInteger next, long[] latencies, long start, double interval) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream());
            for (int i = next.getAndIncrement(); i < latencies.length; i = next.getAndIncrement()) {
                long due = start + (long) (i * interval);
                for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
                    LockSupport.parkNanos(wait);
                }
                String request = "GET /token?user-" + i + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                answer(in);
                latencies[i] = System.nanoTime() - due;
            }
        } catch (IOException e) {
            System.err.println("the server does not answer: " + e);
            System.exit(1);
        }
    }

    /** Reads an answer with status 200. */
    private static void answer(InputStream in) throws IOException {
        int length = 0;
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            if (line.startsWith("HTTP/") && !line.startsWith("HTTP/1.1 200")) {
                throw new IOException(line);
            }
            if (line.regionMatches(true, 0, "content-length: ", 0, 16)) {
                length = Integer.parseInt(line.substring(16));
            }
        }
        if (in.readNBytes(length).length < 300) {
            throw new IOException("the token is too short");
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int byteRead = in.read(); byteRead != '\n'; byteRead = in.read()) {
            if (byteRead < 0) {
                throw new IOException("the connection was closed");
            }
            if (byteRead != '\r') {
                line.append((char) byteRead);
            }
        }
        return line.toString();
    }
}
