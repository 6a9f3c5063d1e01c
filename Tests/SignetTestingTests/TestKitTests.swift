import Foundation
import SignetCore
import SignetNetwork
import SignetStorage
import SignetTesting
import Testing

@Suite("The test kit")
struct TestKitTests {
    @Test("A manual clock shows its first time until it is advanced or set back")
    func clockStandsStill() {
        let start = Date(timeIntervalSince1970: 1_735_689_600)
        let clock = ManualClock(start)
        #expect(clock.now == start && clock.now == start)
        clock.advance(by: 30)
        #expect(clock.now == start + 30)
        clock.advance(by: -60)
        #expect(clock.now == start - 30)
    }

    @Test("A scripted transport answers from its script and records the requests in order")
    func transportFollowsScript() async throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            guard request.method == "GET" else { throw TransportError(.connect, host: "am.example.test", "on purpose") }
            return HTTPResponse(status: 200, body: Array("{}".utf8))
        }
        let response = try await transport.send(HTTPRequest("GET", "https://am.example.test/one"))
        #expect(response.status == 200 && response.body == Array("{}".utf8))
        await #expect(throws: TransportError.self) {
            try await transport.send(HTTPRequest("POST", "https://am.example.test/two"))
        }
        #expect(transport.requests.map(\.url) == ["https://am.example.test/one", "https://am.example.test/two"])
    }

    @Test("A temporary directory belongs to the user alone and is removed with its content", arguments: [false, true])
    func directoryIsRemoved(inMemory: Bool) async throws {
        let path = try await TemporaryDirectory.with(inMemory: inMemory) { directory in
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            try Data("content".utf8).write(to: URL(filePath: directory.file("file")))
            return directory.path
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(
        "A store with a fault at commit throws the fault, and keeps the change only if the fault is durable",
        arguments: [false, true])
    func faultyStoreFailsAtCommit(isDurable: Bool) throws {
        let store = FaultyStore(MemoryStore())
        let key = RecordKey(.account, "Harbor Bank", "mira")
        store.inject(StoreFault(.full, at: .commit, isDurable: isDurable))
        #expect(throws: StoreError.self) {
            try store.write { (records: any RecordWriter) throws(StoreError) in try records.put([1], key) }
        }
        #expect(store.calls.map(\.operation) == [.begin, .put, .commit])
        store.reset()
        let record = try store.read { (records: any RecordReader) throws(StoreError) in try records.record(key) }
        #expect(record == (isDurable ? [1] : nil))
    }
}
