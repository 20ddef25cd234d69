package zariz.jca;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The native library (crates/jni). It has one function, which takes requests as bytes. */
final class Native {
    /**
     * The version of this package. The library must have the same, because both must agree on the format of
     * requests.
     */
    static final String VERSION = "0.1.0";
    /** The fastest engine on this processor; null without the library. */
    static final String ENGINE;
    /** Why the library was not loaded; null if it was. */
    static final Throwable UNAVAILABLE;

    private static final String PATH_PROPERTY = "zariz.native.path";
    private static final String PROCESSOR = System.getProperty("os.arch");
    /** The library in the jar. */
    static final String RESOURCE = "/META-INF/native/linux-" + PROCESSOR + "/libzariz_jni.so";

    static {
        String engine = null;
        Throwable unavailable = null;
        try {
            load();
            Request describe = new Request(Request.Operation.DESCRIBE, 0, new byte[0], new byte[0]);
            Request.compute(new Request[] {describe});
            String[] described = new String(describe.result(), StandardCharsets.UTF_8).split(" ");
            if (described.length != 2 || !described[0].equals(VERSION)) {
                throw new UnsatisfiedLinkError("the native library has version " + described[0] + ", and the jar "
                        + VERSION + "; correct the property " + PATH_PROPERTY + ", or remove it");
            }
            engine = described[1];
        } catch (Exception | LinkageError e) {
            unavailable = e;
        }
        ENGINE = engine;
        UNAVAILABLE = unavailable;
    }

    private Native() {}

    /**
     * The results of the requests, in order. It waits for another thread only while that one reads or changes the
     * table of keys.
     */
    static native byte[] call(byte[] requests);

    private static void load() throws IOException {
        String path = System.getProperty(PATH_PROPERTY);
        if (path != null) {
            loadNamed(Path.of(path).toAbsolutePath());
            return;
        }
        String os = System.getProperty("os.name");
        try (InputStream library = os.equals("Linux") ? Native.class.getResourceAsStream(RESOURCE) : null) {
            if (library == null) {
                throw new UnsatisfiedLinkError("the jar has no library for " + os + " on " + PROCESSOR
                        + "; build one, and name it in the property " + PATH_PROPERTY);
            }
            loadCopy(library);
        }
    }

    /** Loads the file; a copy of it if another class loader has it, because Java gives a file to one of them. */
    private static void loadNamed(Path file) {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError e) {
            try (InputStream library = Files.newInputStream(file)) {
                loadCopy(library);
            } catch (IOException | UnsatisfiedLinkError second) {
                e.addSuppressed(second);
                throw e;
            }
        }
    }

    private static void loadCopy(InputStream library) throws IOException {
        // Nobody else may read or write it, and it has no name any more when it is loaded.
        Path file = Files.createTempFile("zariz-", ".so");
        try {
            // Into that file: a new one would have the permissions that the umask leaves.
            try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
                library.transferTo(out);
            }
            System.load(file.toString());
        } finally {
            Files.delete(file);
        }
    }
}
