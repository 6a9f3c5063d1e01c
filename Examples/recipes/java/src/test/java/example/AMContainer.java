package example;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * Starts the container image instead of the program, with Testcontainers.
 *
 * <p>The container has the network of the machine, because the administration API is for programs on the same machine only. That needs
 * Docker or Podman on Linux.
 */
public final class AMContainer {
    private static final String IMAGE = "ghcr.io/signet-identity/signet:0.1.0";

    private AMContainer() {}

    /** Starts the image with a configuration file, and waits until the server is ready. */
    @SuppressWarnings("resource") // AM.close() stops the container
    public static AM start(Path config) throws Exception {
        GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(IMAGE))
                .withNetworkMode("host")
                .withCopyFileToContainer(MountableFile.forHostPath(config, 0444), "/am.yaml")
                .withCreateContainerCmdModifier(command -> command.withEntrypoint("/usr/bin/signet"))
                .withCommand("serve", "--config", "/am.yaml", "--state", "memory", "--port", "0",
                        "--ready-file", "/var/lib/signet/ready.json", "--admin-token-file", "/var/lib/signet/admin.token")
                .waitingFor(Wait.forLogMessage(".*Stop with Ctrl-C.*", 1));
        container.start();
        String ready = read(container, "/var/lib/signet/ready.json");
        return new AM(AM.JSON.readTree(ready), read(container, "/var/lib/signet/admin.token"), container::stop);
    }

    private static String read(GenericContainer<?> container, String path) throws Exception {
        return container.copyFileFromContainer(path, stream -> new String(stream.readAllBytes(), StandardCharsets.UTF_8));
    }
}
