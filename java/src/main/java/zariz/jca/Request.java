package zariz.jca;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.ProviderException;
import java.util.Arrays;

/** One request to the native library, as crates/jni/src/protocol.rs describes it, and its result. */
final class Request {
    enum Operation {
        SIGN_PKCS1,
        SIGN_PSS,
        VERIFY_PKCS1,
        VERIFY_PSS,
        DECRYPT_PKCS1,
        DECRYPT_OAEP,
        ENCRYPT_PKCS1,
        ENCRYPT_OAEP,
        LOAD_NUMBERS,
        LOAD_DER,
        LOAD_PUBLIC,
        FREE,
        GENERATE,
        DESCRIBE
    }

    enum Status {
        DONE,
        MISMATCH,
        KEY,
        PADDING,
        LENGTH,
        FAILED,
        MALFORMED
    }

    private static final Status[] STATUSES = Status.values();
    /** Bytes of a request without its two arguments, and of a result without its bytes. */
    private static final int REQUEST_SIZE = 23, RESULT_SIZE = 5;

    /** The thread that waits for it. */
    final Thread owner = Thread.currentThread();
    private final byte[] bytes;
    private byte[] result;
    private Throwable failure;
    private Status status;
    private volatile boolean taken;
    private volatile boolean done;

    Request(Operation operation, long key, byte[] first, byte[] second) {
        this(operation, key, Hash.SHA_1, Hash.SHA_1, 0, first, second);
    }

    Request(Operation operation, long key, Hash hash, Hash maskHash, int saltLength, byte[] first, byte[] second) {
        bytes = new byte[Math.addExact(REQUEST_SIZE, Math.addExact(first.length, second.length))];
        ByteBuffer out = ByteBuffer.wrap(bytes);
        out.put((byte) operation.ordinal()).putLong(key);
        out.put((byte) hash.ordinal()).put((byte) maskHash.ordinal()).putInt(saltLength);
        out.putInt(first.length).put(first).putInt(second.length).put(second);
    }

    /** Computes it at once, without other requests. */
    Request call() {
        compute(new Request[] {this});
        return this;
    }

    /** Computes all of them by one call, and wipes their inputs. */
    static void compute(Request... batch) {
        byte[] in = null;
        byte[] out = null;
        try {
            in = concatenated(batch);
            out = Native.call(in);
            ByteBuffer results = ByteBuffer.wrap(out);
            for (Request request : batch) {
                request.status = STATUSES[results.get()];
                request.result = new byte[results.getInt()];
                results.get(request.result);
            }
            for (Request request : batch) {
                request.done = true;
            }
        } catch (Throwable e) {
            // Even if memory runs out: other threads of the batch wait for this.
            for (Request request : batch) {
                request.fail(e);
            }
        } finally {
            wipe(in);
            wipe(out);
            for (Request request : batch) {
                wipe(request.bytes);
            }
        }
    }

    /** Ends it with that failure, unless it has ended. */
    void fail(Throwable e) {
        if (!done) {
            failure = e;
            done = true;
            wipe(bytes);
        }
    }

    /** Notes that it is in a batch. */
    void take() {
        taken = true;
    }

    boolean isTaken() {
        return taken;
    }

    boolean isDone() {
        return done;
    }

    /** How it ended. */
    Status status() {
        if (failure != null) {
            throw new ProviderException("the computation failed", failure);
        }
        return status;
    }

    /** The error's text. */
    String message() {
        return new String(result, StandardCharsets.UTF_8);
    }

    /** The result. Any failure is a {@link ProviderException}. */
    byte[] result() {
        if (status() != Status.DONE) {
            throw new ProviderException(message());
        }
        return result;
    }

    private static byte[] concatenated(Request[] batch) {
        if (batch.length == 1) {
            return batch[0].bytes;
        }
        int length = 0;
        for (Request request : batch) {
            length = Math.addExact(length, request.bytes.length);
        }
        ByteBuffer all = ByteBuffer.allocate(length);
        for (Request request : batch) {
            all.put(request.bytes);
        }
        return all.array();
    }

    private static void wipe(byte[] bytes) {
        if (bytes != null) {
            Arrays.fill(bytes, (byte) 0);
        }
    }
}
