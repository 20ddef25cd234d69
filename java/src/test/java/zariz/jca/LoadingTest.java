package zariz.jca;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Provider;
import java.util.List;
import java.util.ServiceLoader;
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
        try (var library = Native.class.getResourceAsStream("/META-INF/native/linux-x86_64/libzariz_jni.so")) {
            Files.copy(library, file);
        }
        String output = Fixtures.child(
                List.of("--enable-native-access=ALL-UNNAMED", "-Djava.io.tmpdir=/nowhere", "-Dzariz.native.path=" + file),
                "use");
        assertTrue(output.contains("signature Zariz\n"), output);
    }
}
