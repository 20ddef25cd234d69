package zariz.jca;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Combines the requests of many threads into batches, which zariz computes side by side in vector lanes. It
 * works like zariz's batcher for Rust (docs/batcher.md), but threads wait in Java, so that a virtual thread
 * that waits holds no carrier.
 *
 * <p>A platform thread whose request finds a free <i>slot</i> leads: it computes the requests that wait, its
 * own among them, by one native call, and wakes their threads. Meanwhile other requests queue; the thread of
 * the first one leads next. A virtual thread leaves private operations to a worker, so that its carrier can
 * run other virtual threads, which bring more requests.
 */
final class Batcher {
    /**
     * Larger batches save nothing for each request, and every request waits until its whole batch is
     * computed.
     */
    private static final int MAX_BATCH = 16;
    /** With so many requests, nobody yields for more: no processor has more lanes. */
    private static final int FULL = 8;
    /**
     * How long other threads may keep the processor when we yield, plus as long for each request that they
     * bring.
     */
    private static final long ALLOWANCE_NANOS = 500_000;
    /** If they keep it longer, no thread yields for so many times as long. */
    private static final int PAUSE_FACTOR = 16;

    private static final MethodHandle IS_VIRTUAL = threadIsVirtual();
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    /** Signatures and decryptions. */
    static final Batcher PRIVATE = new Batcher(PROCESSORS, true);
    /**
     * Those with keys above {@link #LONG_BITS}. They use at most half of the processors, so that others are
     * not held up.
     */
    static final Batcher LONG = new Batcher(Math.max(1, PROCESSORS / 2), true);
    /** Verifications and encryptions. They take little longer than a thread switch, so nobody yields. */
    static final Batcher PUBLIC = new Batcher(PROCESSORS, false);

    private static final int LONG_BITS = 4096;

    private final LinkedBlockingQueue<Request> waiting = new LinkedBlockingQueue<>();
    private final Semaphore slots;
    /** Threads that compute private operations of virtual threads. */
    private final ThreadPoolExecutor workers;
    private final boolean yields;
    private volatile long pauseEnd = System.nanoTime();
    final LongAdder operations = new LongAdder();
    final LongAdder batches = new LongAdder();

    private Batcher(int slots, boolean yields) {
        this.slots = new Semaphore(slots);
        this.yields = yields;
        workers = new ThreadPoolExecutor(slots, slots, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            Thread worker = new Thread(null, work, "zariz", 0, false); // without its maker's inheritable values
            worker.setContextClassLoader(null);
            worker.setDaemon(true);
            return worker;
        });
        workers.allowCoreThreadTimeOut(true);
    }

    /** The batcher for private operations with keys of so many bits. */
    static Batcher forPrivate(int bits) {
        return bits > LONG_BITS ? LONG : PRIVATE;
    }

    /** Waits until the request has its result. An interrupted thread stays interrupted. */
    Request call(Request request) {
        boolean isHandedOver = false;
        boolean interrupted = false;
        boolean handsOver = yields && isVirtual(request.owner);
        try {
            waiting.add(request);
            while (!request.isDone()) {
                if (isHandedOver || request.isTaken() || !slots.tryAcquire()) {
                    // Between the look at the result and this, nothing may wait: it would use up our wake-up.
                    LockSupport.park(this);
                    isHandedOver = false;
                    interrupted |= Thread.interrupted();
                } else if (handsOver) {
                    startWorker();
                    isHandedOver = true;
                } else {
                    lead(request);
                }
            }
        } catch (Throwable e) {
            // Memory or the stack has ended. We shall not come when we are called to lead.
            if (waiting.remove(request)) {
                request.fail(e);
            }
            wakeNext();
            throw e;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return request;
    }

    /** Computes a batch, and frees our slot. */
    private void lead(Request own) {
        try {
            computeBatch(own);
        } finally {
            freeSlot();
        }
    }

    /** Gives our slot to a worker. If none can be started, computes here. */
    private void startWorker() {
        try {
            workers.execute(this::work);
        } catch (Throwable e) { // the system starts no more threads, or memory has ended
            work();
        }
    }

    /** Computes until nothing waits. The slot is ours. */
    private void work() {
        try {
            while (!waiting.isEmpty()) {
                computeBatch(null);
            }
        } finally {
            freeSlot();
        }
    }

    private void freeSlot() {
        slots.release();
        wakeNext();
    }

    /** Lets the first that waits look for a free slot. */
    private void wakeNext() {
        // A thread that found no slot has put its request into the queue before: it is not missed.
        Request next = waiting.peek();
        if (next != null) {
            LockSupport.unpark(next.owner);
        }
    }

    /** Computes a batch, with the caller's request if it has one. */
    private void computeBatch(Request own) {
        yieldToOthers();
        List<Request> batch = new ArrayList<>(MAX_BATCH); // before requests leave the queue: it may fail
        try {
            waiting.drainTo(batch, MAX_BATCH);
            if (batch.isEmpty()) {
                return; // another thread has taken them meanwhile
            }
            for (int i = 0; i < batch.size(); i++) {
                batch.get(i).take();
            }
            Request.compute(batch.toArray(new Request[0]));
            operations.add(batch.size());
            batches.increment();
        } catch (Throwable e) {
            for (int i = 0; i < batch.size(); i++) { // without an iterator: there may be no memory for it
                batch.get(i).fail(e);
            }
            throw e;
        } finally {
            for (int i = 0; i < batch.size(); i++) {
                if (batch.get(i) != own) {
                    wake(batch.get(i));
                }
            }
        }
    }

    private static void wake(Request request) {
        try {
            LockSupport.unpark(request.owner);
        } catch (Throwable e) {
            // No memory for a virtual thread's task: those behind it shall be woken all the same.
        }
    }

    /**
     * Lets other ready threads bring their requests. If more threads are ready than there are processors,
     * they would otherwise run after the batch. Each would then find no computation under way, and compute
     * only its own request.
     *
     * <p>The system may give the processor to another program for milliseconds. After that, no thread yields
     * for a while.
     */
    private void yieldToOthers() {
        int before = waiting.size();
        if (!yields || before >= FULL) {
            return;
        }
        long begin = System.nanoTime();
        if (begin - pauseEnd < 0) {
            return;
        }
        Thread.yield();
        long end = System.nanoTime();
        int brought = Math.max(0, waiting.size() - before);
        if (end - begin > ALLOWANCE_NANOS * (1 + brought)) {
            pauseEnd = end + PAUSE_FACTOR * (end - begin);
        }
    }

    private static boolean isVirtual(Thread thread) {
        try {
            return IS_VIRTUAL != null && (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable e) {
            throw new AssertionError(e); // it declares no exception
        }
    }

    /** {@code Thread.isVirtual}; null before Java 21, which has no virtual threads. */
    private static MethodHandle threadIsVirtual() {
        try {
            return MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }
}
