import Testing

@testable import SignetCore

@Suite("The list of waiting messages of a push stream")
struct WaitingPushMessagesTests {
    @Test("A list is read as it was written, an empty one too", arguments: [[], ["b", "a"]])
    func readsWrittenList(ids: [String]) throws {
        let text = JSON.text(of: WaitingPushMessages(ids))
        #expect(text == (ids.isEmpty ? #"{"messageIds":[]}"# : #"{"messageIds":["a","b"]}"#))
        #expect(try JSON.decode(WaitingPushMessages.self, from: text.utf8).messageIDs == Set(ids))
    }

    @Test(
        "A list with a part that cannot be read is refused as a whole",
        arguments: ["", "{}", "[]", #"{"messageIds":null}"#, #"{"messageIds":"a"}"#, #"{"messageIds":["a",7]}"#])
    func refusesDamagedList(text: String) {
        #expect(throws: (any Error).self) { try JSON.decode(WaitingPushMessages.self, from: text.utf8) }
    }
}
