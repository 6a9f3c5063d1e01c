import Testing

@testable import signet

@Suite("Pauses of the agent before it connects to a message bus again")
struct ReconnectPauseTests {
    @Test("The pauses before a message bus is looked for again grow to a minute, and are short after a connection that lasted")
    func growsPauses() {
        var pause = ReconnectPause()
        let pauses = (0..<8).map { _ in pause.next(after: nil) }
        let expected = [1, 2, 4, 8, 16, 32, 60, 60].map { Duration.seconds($0) }
        #expect(pauses == expected)
        let short = pause.next(after: .seconds(1))
        #expect(short == ReconnectPause.longest)
        let lasting = pause.next(after: .seconds(10))
        #expect(lasting == ReconnectPause.shortest)
    }
}
