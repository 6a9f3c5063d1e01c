import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The rules of the faults reordering and replayed-push")
struct MessageFaultTests {
    private typealias Event = FaultedDelivery.Event

    /// Makes messages whose event IDs are these numbers.
    private func messages(_ eventIDs: UInt64...) -> [PushMessageRecord] {
        let now = ManualClock().now
        let device = PushDevice(
            owner: UserKey(realm: .root, name: "mira"), secret: Secret([1]), mechanismUID: "m", deviceID: "token",
            deviceName: "d", deviceType: "t", communicationType: "gcm", communicationID: "c", resourceID: "r",
            registeredAt: now)
        return eventIDs.map { eventID in
            var message = PushMessageRecord(
                PushPrompt(kind: .tap, text: "Hello"), to: device,
                RequestTime(now: now, configuration: .sample(), baseURL: "http://localhost/am"))
            message.eventID = eventID
            return message
        }
    }

    private func events(_ eventIDs: UInt64...) -> [Event] {
        eventIDs.flatMap { messages($0) }.map { Event(push: $0, id: $0.eventID) }
    }

    private func table(_ rules: FaultRule...) throws -> FaultTable {
        let table = FaultTable(
            contextPath: "/am", realms: [.root], hasPushGateway: false, clock: ManualClock(), onDeliveryChange: {})
        for rule in rules { try table.enable(rule) }
        return table
    }

    @Test("The fault reordering moves the first of several events to the end, once for each use")
    func reorderingMovesFirstEvent() throws {
        let table = try table(FaultRule(.reordering, .times(1)))
        let faults = table.entries
        var reordering = MessageReordering()
        let first = reordering.reorder(events(1, 2, 3), by: faults, in: table)
        #expect(first.map(\.id) == [2, 3, 1])
        #expect(first.map(\.faults) == [[], [], ["reordering"]])
        let second = reordering.reorder(events(4, 5), by: faults, in: table)
        #expect(second.map(\.id) == [4, 5])
    }

    @Test("The fault reordering holds a single event back until the next one")
    func reorderingHoldsSingleEvent() throws {
        let table = try table(FaultRule(.reordering))
        let faults = table.entries
        var reordering = MessageReordering()
        let none = reordering.reorder(events(1), by: faults, in: table)
        #expect(none.isEmpty)
        #expect(reordering.heldMessage?.eventID == 1)
        #expect(reordering.lasts(among: faults))
        #expect(!reordering.lasts(among: []))
        let both = reordering.reorder(events(2), by: faults, in: table)
        #expect(both.map(\.id) == [2, 1])
        #expect(reordering.heldMessage == nil)
    }

    @Test("The fault replayed-push replays each message once, with the newest event ID, as often as the fault allows")
    func replayRepeatsMessagesOnce() throws {
        let table = try table(FaultRule(.replayedPush, .times(2)))
        let fault = try #require(table.entries.first)
        var replay = MessageReplay(after: 3)
        replay.remember(messages(4, 5))
        replay.remember(earlier: messages(1))
        #expect(replay.hasEarlier)
        #expect(replay.candidates.map(\.eventID) == [1, 4, 5])
        let replayed = replay.replay(replay.candidates, by: fault, in: table)
        #expect(replayed.map(\.push.eventID) == [1, 4])
        #expect(replayed.map(\.id) == [5, 5])
        #expect(replay.candidates.map(\.eventID) == [5])
        let further = replay.replay(replay.candidates, by: fault, in: table)
        #expect(further.isEmpty)
    }
}
