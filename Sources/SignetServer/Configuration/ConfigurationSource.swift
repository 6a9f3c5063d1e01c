import SignetCore
import YAMLText

/// A configuration file whose YAML is parsed once, for the readers of its parts.
package struct ConfigurationSource: Sendable {
    private let parsed: Result<MarkedValue, ConfigurationError>

    /// Parses the text of a configuration file.
    ///
    /// A text that is not YAML, or that has no value, is reported when the configuration is read.
    /// - Parameter text: The text.
    package init(_ text: String) {
        do throws(YAMLText.Problem) {
            parsed = try YAMLText.value(of: text).map { .success($0) } ?? .failure(Self.empty)
        } catch {
            parsed = .failure(ConfigurationError([ConfigurationProblem(.invalidYAML, at: error.position, nil, error.message)]))
        }
    }

    private static let empty = ConfigurationError([
        ConfigurationProblem(
            .emptyFile, at: .start, nil, "the file is empty: `signet serve --print-default-config` prints a file to start from")
    ])

    /// The content of the file.
    var value: MarkedValue {
        get throws(ConfigurationError) { try parsed.get() }
    }

    /// The names of the journeys in the file; none for a file that cannot be parsed.
    var journeyNames: Set<String> {
        let file = try? parsed.get().mapping
        return Set(file?.first { $0.key == "journeys" }?.value.mapping?.map(\.key) ?? [])
    }
}
