package zariz.jca;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.Provider;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoadingTest {
    @TempDir
    Path folder;

    @Test
    void theLibraryIsLoaded() {
        assertNull(Zariz.unavailabilityCause());
        assertTrue(Zariz.isAvailable());
        assertFalse(Zariz.engine().isEmpty());
        assertEquals(Zariz.version(), Fixtures.ZARIZ.getVersionStr());
    }

    @Test
    void aConfigurationFileCanNameTheProvider() {
        boolean found = ServiceLoader.load(Provider.class).stream().anyMatch(it -> it.type() == Zariz.class);
        assertTrue(found, "java.security finds providers as services");
    }

    @Test
    void itServesWithoutAComplaintOfTheJvmAndLeavesNoFile() throws Exception {
        String output = Fixtures.child(
                List.of("--enable-native-access=ALL-UNNAMED", "-Djava.io.tmpdir=" + folder), "use");
        assertFalse(output.contains("WARNING") || output.contains("FATAL"), output);
        assertTrue(output.contains("available true, engine " + Zariz.engine()), output);
        assertTrue(output.contains("generator Zariz\nsignature Zariz\n"), output);
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.filter(file -> file.toString().contains("zariz")).toList());
        }
    }

    @Test
    void theNextProviderServesWhereItCannotBeLoaded() throws Exception {
        Path noLibrary = Files.writeString(folder.resolve("libzariz_jni.so"), "text");
        List<String> bad = List.of(
                "-Dzariz.native.path=/nowhere/libzariz_jni.so", "-Dzariz.native.path=" + noLibrary,
                "-Djava.io.tmpdir=/nowhere", "-Dos.arch=riscv64");
        for (String option : bad) {
            String output = Fixtures.child(List.of("--enable-native-access=ALL-UNNAMED", option), "use");
            assertTrue(output.contains("available false, engine null\n"), output);
            assertFalse(output.contains("cause null"), output);
            assertTrue(output.contains("generator SunRsaSign\nsignature SunRsaSign\n"), output);
        }
    }

    @Test
    void aPropertyNamesTheLibrary() throws Exception {
        Path file = folder.resolve("elsewhere.so");
        try (var library = Native.class.getResourceAsStream(Native.RESOURCE)) {
            Files.copy(library, file);
        }
        String output = Fixtures.child(
                List.of("--enable-native-access=ALL-UNNAMED", "-Djava.io.tmpdir=/nowhere", "-Dzariz.native.path=" + file),
                "use");
        assertTrue(output.contains("signature Zariz\n"), output);
    }

    /** A library that others could write to would run their code. */
    @Test
    void onlyItsOwnerMayWriteToTheLibraryWhateverTheUmaskIs() throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        Thread watcher = new Thread(() -> {
            while (!Thread.interrupted()) {
                File[] files = folder.toFile().listFiles((parent, name) -> name.endsWith(".so"));
                for (File file : files) {
                    try {
                        seen.add(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.toPath())));
                    } catch (IOException e) {
                        // It is gone.
                    }
                }
            }
        });
        watcher.start();
        Fixtures.childAfter("umask 0", List.of("-Djava.io.tmpdir=" + folder), "use");
        watcher.interrupt();
        watcher.join();
        assertEquals(Set.of("rw-------"), seen);
    }

    /** As two web applications that each have the jar. */
    @Test
    void twoClassLoadersUseTheSameNamedLibrary() throws Exception {
        Path file = folder.resolve("named.so");
        try (var library = Native.class.getResourceAsStream(Native.RESOURCE)) {
            Files.copy(library, file);
        }
        URL[] classes = {Zariz.class.getProtectionDomain().getCodeSource().getLocation()};
        System.setProperty("zariz.native.path", file.toString());
        try {
            for (int i = 0; i < 2; i++) {
                ClassLoader application = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
                Class<?> other = application.loadClass(Zariz.class.getName());
                assertNotSame(Zariz.class, other);
                assertNull(other.getMethod("unavailabilityCause").invoke(null));
                assertEquals(Zariz.engine(), other.getMethod("engine").invoke(null));
            }
        } finally {
            System.clearProperty("zariz.native.path");
        }
    }
}
