package example;

import java.nio.file.Path;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives tests a parameter of the type {@link AM}: one server for all of them, reset before each test. */
public final class AMExtension implements BeforeEachCallback, ParameterResolver {
    private static final ExtensionContext.Namespace PLACE = ExtensionContext.Namespace.create(AMExtension.class);

    /** Ends the server after the last test. */
    private record Running(AM am) implements ExtensionContext.Store.CloseableResource {
        @Override
        public void close() {
            am.close();
        }
    }

    private static AM am(ExtensionContext context) {
        return context.getRoot().getStore(PLACE).getOrComputeIfAbsent("am", key -> new Running(start()), Running.class).am();
    }

    private static AM start() {
        try {
            return AM.start(Path.of(System.getProperty("am.config", "../am.yaml"))); // or AMContainer.start(...)
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        am(context).reset();
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == AM.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return am(context);
    }
}
