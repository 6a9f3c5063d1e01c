/// One server-sent event (HTML Living Standard section 9.2), as push streams use them.
public struct ServerSentEvent: Sendable, Hashable {
    /// The id.
    ///
    /// A client that reconnects sends the last id that it received.
    public var id: String?
    /// The type of the event; the default is `message`.
    public var name: String
    /// The content.
    ///
    /// Lines are separated by `\n`.
    public var data: String

    /// Creates an event.
    public init(id: String? = nil, name: String = "message", data: String) {
        self.id = id
        self.name = name
        self.data = data
    }

    /// The event in wire format, with the empty line that ends it.
    ///
    /// Line endings in the data become `\n`. Line endings in the id and the name, which must be a single line, become spaces.
    public var encoded: String {
        func lines(_ text: String) -> [Substring] {
            text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
        }
        var fields: [String] = []
        if let id { fields.append("id: \(lines(id).joined(separator: " "))") }
        fields.append("event: \(lines(name).joined(separator: " "))")
        fields += lines(data).map { "data: \($0)" }
        return fields.joined(separator: "\n") + "\n\n"
    }

    /// Splits a stream of bytes into events.
    ///
    /// The bytes can be passed in pieces of any size.
    public struct Parser: Sendable {
        /// The maximum number of bytes of one event, so that a peer cannot exhaust the memory.
        public let maxEventSize: Int
        private var size = 0
        private var line: [UInt8] = []
        private var pending = ServerSentEvent(data: "")
        private var data: [String] = []
        private var lastWasReturn = false
        private var isFirstLine = true

        /// Creates a parser for the start of a stream.
        public init(maxEventSize: Int = 1 << 20) {
            self.maxEventSize = maxEventSize
        }

        /// The error for an event that is larger than the parser's limit.
        public struct EventTooLarge: Error, Sendable {}

        /// Returns the events that `bytes` completes.
        /// - Throws: ``EventTooLarge``.
        public mutating func feed(_ bytes: some Sequence<UInt8>) throws(EventTooLarge) -> [ServerSentEvent] {
            var events: [ServerSentEvent] = []
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "\n") where lastWasReturn:
                    lastWasReturn = false
                case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                    lastWasReturn = byte == UInt8(ascii: "\r")
                    if let event = endLine() { events.append(event) }
                default:
                    lastWasReturn = false
                    guard size < maxEventSize else { throw EventTooLarge() }
                    size += 1
                    line.append(byte)
                }
            }
            return events
        }

        private mutating func endLine() -> ServerSentEvent? {
            defer { line.removeAll(keepingCapacity: true) }
            if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
            isFirstLine = false
            guard !line.isEmpty else { return endEvent() }
            guard line[0] != UInt8(ascii: ":") else {
                size -= line.count  // Comments keep the connection alive and do not count as part of an event.
                return nil
            }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            var value = line.dropFirst(name.count + 1)
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            let text = String(decoding: value, as: UTF8.self)
            switch String(decoding: name, as: UTF8.self) {
            case "id": pending.id = text
            case "event": pending.name = text
            case "data": data.append(text)
            default: break  // `retry` and unknown fields are ignored. The standard requires this for unknown fields.
            }
            return nil
        }

        private mutating func endEvent() -> ServerSentEvent? {
            defer {
                pending = ServerSentEvent(data: "")
                data = []
                size = 0
            }
            guard !data.isEmpty else { return nil }
            pending.data = data.joined(separator: "\n")
            return pending
        }
    }
}
