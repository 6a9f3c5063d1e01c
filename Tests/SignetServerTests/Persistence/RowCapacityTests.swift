import SignetStorage
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The maximum number of rows in a file")
struct RowCapacityTests {
    @Test("Journeys in a file displace those that expire first, and sessions displace none")
    func displacesRows() async throws {
        try await TemporaryDirectory.with { directory in
            let store = try SQLiteRows(path: directory.file("state/server.sqlite"), capacities: [RowKind.journey.rawValue: 100])
            defer { store.close() }
            for batch in 0..<40 {
                var changes = RowChanges()
                for number in (batch * 25)..<(batch * 25 + 25) {
                    let row = StoredRow(expiresAt: Int64(1_000_000 + number), bytes: [1])
                    for kind in [RowKind.journey, .session] { changes.rows[RowKey(kind, "\(number)")] = .some(row) }
                }
                changes.now = 1
                let written = changes
                try store.transact { (_) throws(StoreError) in ((), written) }
            }
            func count(_ kind: RowKind) throws -> Int {
                try store.transact { (reader) throws(StoreError) in
                    (try reader.count(kind.rawValue, at: 1, limit: 2000), RowChanges())
                }
            }
            func exists(_ number: Int) throws -> Bool {
                try store.transact { (reader) throws(StoreError) in
                    (try reader.row(RowKey(.journey, "\(number)")) != nil, RowChanges())
                }
            }
            let counts = (journeys: try count(.journey), sessions: try count(.session))
            #expect(counts.journeys == 100 && counts.sessions == 1000)
            let present = (oldest: try exists(899), newest: try exists(900) && exists(999))
            #expect(!present.oldest && present.newest)
        }
    }

    @Test("Only the rows that unauthenticated clients create have a maximum in a file")
    func limitsUnauthenticatedKinds() {
        let limited = RowKind.allCases.filter { $0.fileCapacity != nil }
        #expect(Set(limited) == [.deviceCode, .emails, .journey, .loginFlow, .pushedRequest, .suspendedJourney, .userCode])
    }

    @Test("The rows of a kind are counted at the first write and after each tenth of the maximum")
    func countsSeldom() {
        let capacities = RowCapacities(["journey": 1000])
        let counted = (0..<250).filter { _ in capacities.capacity(of: "journey", afterWriting: 1) == 1000 }
        #expect(counted == [0, 100, 200])
        #expect(capacities.capacity(of: "session", afterWriting: 5000) == nil)
    }
}
