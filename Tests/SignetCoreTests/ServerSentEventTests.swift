import SignetCore
import Testing

@Suite("Server-sent events")
struct ServerSentEventTests {
    private typealias Event = ServerSentEvent

    /// Returns the events of a stream that is fed in pieces of `size` bytes.
    private func events(in text: String, pieces size: Int = .max) throws -> [Event] {
        var parser = Event.Parser()
        var rest = Array(text.utf8)[...]
        var events: [Event] = []
        while !rest.isEmpty {
            events += try parser.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return events
    }

    private static let stream =
        ": hello\n\nid: 1\nevent: push\ndata: {\"a\":\"ü 🚀\"}\n\nretry: 10\n:\ndata:two\ndata: lines\ndata\n\ndata:  spaced\nid\n\n"
    private static let meaning = [
        ServerSentEvent(id: "1", name: "push", data: "{\"a\":\"ü 🚀\"}"), ServerSentEvent(data: "two\nlines\n"),
        ServerSentEvent(id: "", data: " spaced"),
    ]

    @Test("A stream split in two at any byte gives the same events", arguments: ["\n", "\r\n", "\r"])
    func parsesEveryCut(lineEnd: String) throws {
        let bytes = Array(Self.stream.replacing("\n", with: lineEnd).utf8)
        for cut in 0...bytes.count {
            var parser = Event.Parser()
            let events = try parser.feed(bytes[..<cut]) + parser.feed(bytes[cut...])
            #expect(events == Self.meaning, "cut at \(cut)")
        }
    }

    @Test("A stream in pieces of any size gives the same events", arguments: ["\n", "\r\n", "\r"], 1...9)
    func parsesPieces(lineEnd: String, size: Int) throws {
        #expect(try events(in: Self.stream.replacing("\n", with: lineEnd), pieces: size) == Self.meaning)
    }

    @Test(
        "Lines are parsed as the standard defines",
        arguments: [
            ("data: a\r\n\r\ndata: b\n\ndata: c\r\r", ["a", "b", "c"]), ("data: a\n\rdata: b\n\n", ["a", "b"]),
            (": comment\n\n", []),
            ("data: a\n", []), ("data: a", []), ("data\n\n", [""]), ("data:\n\n", [""]), ("data: \n\n", [""]),
            ("data:  a\n\n", [" a"]),
            ("data:a:b: c\n\n", ["a:b: c"]), ("event: x\n\ndata: a\n\n", ["a"]), ("nonsense\ndata: a\nother: b\n\n", ["a"]),
            ("\n\n\n", []), (" data: a\n\n", []), ("Data: a\n\n", []), ("\u{FEFF}data: a\n\n", ["a"]),
            ("data: \u{301}a\n\n", ["\u{301}a"]),
            ("data:\u{301}a\n\n", ["\u{301}a"]),
        ])
    func parsesLines(stream: String, data: [String]) throws {
        #expect(try events(in: stream).map(\.data) == data)
        #expect(try events(in: stream, pieces: 1).map(\.data) == data)
    }

    @Test("A name and an id belong to one event, and the last of several counts")
    func eventFields() throws {
        let found = try events(in: "id: 1\nid: 2\nevent: a\nevent: push\ndata: x\n\ndata: y\n\n")
        #expect(found == [Event(id: "2", name: "push", data: "x"), Event(data: "y")])
    }

    @Test(
        "A written event is read back unchanged",
        arguments: [
            Event(data: ""), Event(data: "a"), Event(id: "17", name: "push", data: "{}"), Event(id: "", data: "x"),
            Event(data: "\n"),
            Event(data: "a\n\nb\n"), Event(data: " a"), Event(data: ": a"), Event(data: "id: 9"), Event(data: "ü\u{301}🚀"),
            Event(data: "\u{301}a"), Event(name: "a:b", data: "c"), Event(id: " 1", data: "\t"),
        ])
    func eventRoundTrip(event: ServerSentEvent) throws {
        #expect(try events(in: event.encoded) == [event])
    }

    @Test(
        "Every kind of line break in the data becomes \\n and cannot start another field",
        arguments: [
            "a\rid: 9", "a\r\nid: 9", "a\nid: 9",
        ])
    func normalizesLineBreaksInData(data: String) throws {
        #expect(try events(in: Event(data: data).encoded) == [Event(data: "a\nid: 9")])
    }

    @Test("A line break in an id or a name cannot start another field", arguments: ["\n", "\r", "\r\n"])
    func preventsFieldInjection(lineEnd: String) throws {
        let event = Event(id: "1\(lineEnd)data: evil", name: "push\(lineEnd)\(lineEnd)data: evil", data: "good")
        let found = try events(in: event.encoded)
        #expect(found.map(\.data) == ["good"])
    }

    @Test("An event may be exactly as large as the limit")
    func enforcesEventSizeLimit() throws {
        var exact = Event.Parser(maxEventSize: 10)
        #expect(try exact.feed("data: abcd\n\n".utf8).count == 1)
        #expect(try exact.feed("data: efgh\n\n".utf8).count == 1)
        var over = Event.Parser(maxEventSize: 10)
        #expect(throws: Event.Parser.EventTooLarge.self) { try over.feed("data: abcde\n\n".utf8) }
    }

    @Test(
        "A peer cannot exhaust the memory with many lines, with names or with an endless line",
        arguments: [
            "data: a\n", "id: a\n", "event: a\n", "nonsense\n", "data: ", "data\n",
        ])
    func limitsMemoryOfParser(piece: String) throws {
        var parser = Event.Parser(maxEventSize: 1000)
        #expect(throws: Event.Parser.EventTooLarge.self) {
            for _ in 0..<10_000 { _ = try parser.feed(piece.utf8) }
        }
    }

    @Test("Keep-alive comments do not count toward the size of an event")
    func keepAliveDoesNotGrowEvent() throws {
        var parser = Event.Parser(maxEventSize: 1000)
        for _ in 0..<10_000 { #expect(try parser.feed(":\n".utf8).isEmpty) }
        for _ in 0..<10_000 { #expect(try parser.feed(": alive\n\n".utf8).isEmpty) }
        #expect(try parser.feed("data: a\n\n".utf8) == [Event(data: "a")])
    }
}
