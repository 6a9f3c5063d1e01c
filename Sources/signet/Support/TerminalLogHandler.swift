import Logging
import SignetCore

/// Writes log entries to standard error, one line each, without control characters.
///
/// The message and the metadata contain texts of clients, such as user names and request paths. Other handlers write them
/// unchanged, so that a client could act on the operator's terminal or forge entries.
struct TerminalLogHandler: LogHandler {
    private let label: String
    private let clock: any WallClock
    private let write: @Sendable (TerminalText) -> Void

    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    /// Creates a handler.
    /// - Parameters:
    ///   - label: The label of the logger.
    ///   - clock: The clock for the time of an entry.
    ///   - write: The function that writes a line.
    init(
        label: String, clock: any WallClock = SystemWallClock(),
        write: @escaping @Sendable (TerminalText) -> Void = { Console.error($0) }
    ) {
        self.label = label
        self.clock = clock
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        all.merge(metadataProvider?.get() ?? [:]) { $1 }
        all.merge(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(error)" }
        let values = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" as TerminalText }.joined(separator: "")
        write("\(clock.now.text) \(event.level.rawValue) \(label):\(values) [\(event.source)] \(event.message)")
    }
}
