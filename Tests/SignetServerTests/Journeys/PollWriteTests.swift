import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("The writes of clients that poll")
struct PollWriteTests {
    private static func commits(_ server: TestServer) async throws -> Int {
        try await server.devServer.context.store.queue.writes.commits
    }

    @Test("A poll that shows the same step again writes nothing, and the step keeps its handle")
    func pollWritesNothing() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            var (step, push) = try await server.waitingLogin(phone: phone)
            let (handle, before) = (step.authId, try await Self.commits(server))
            for _ in 0..<10 {
                step = try await server.poll(step).step
                #expect(step.authId == handle && step.waitMilliseconds == 1000)
            }
            #expect(try await Self.commits(server) == before)
            #expect(try await phone.answer(push, at: server).status == 200)
            #expect(try await server.poll(step).isLoggedIn)
            #expect(try await !server.next(step).isLoggedIn, "the handle is used up")
        }
    }

    @Test("A poll of a login page writes nothing")
    func pagePollWritesNothing() async throws {
        try await TestServer.run { server in
            let phone = try await server.registeredPhone()
            let browser = PageBrowser(server)
            let page = try await browser.signIn(
                try await browser.get("/am/XUI/?realm=/&authIndexType=service&authIndexValue=PushLogin"))
            let poll = try #require(page.text.captures("data-poll=\"([^\"]*)\"").first?[0].unescaped)
            let before = try await Self.commits(server)
            for _ in 0..<10 {
                server.clock.advance(by: 1)
                let reply = try await browser.get(poll)
                #expect(reply.json["page"] == .integer(2) && reply.json["wait"] == .integer(1000))
            }
            #expect(try await Self.commits(server) == before)
            let push = try #require(try await server.inbox(phone.uid).last)
            #expect(try await phone.answer(push, at: server).status == 200)
            server.clock.advance(by: 1)
            #expect(try await browser.get(poll).json["wait"] == nil)
            #expect(try await browser.get(try #require(page.formAction)).heading == "You are signed in")
        }
    }

    @Test("A poll whose step is another one is stored, with another handle")
    func otherStepIsStored() async throws {
        // The schedule of the server has longer waits later.
        try await TestServer.run(.sample { $0.pollInterval = nil }) { server in
            let phone = try await server.registeredPhone()
            var step = try await server.waitingLogin(phone: phone).step
            var handles: Set = [step.authId]
            var waits: Set = [step.waitMilliseconds]
            for _ in 0..<20 {
                let reply = try await server.poll(step)
                guard reply.json["authId"] != nil else { break }
                step = try reply.step
                handles.insert(step.authId)
                waits.insert(step.waitMilliseconds)
            }
            #expect(waits.count > 1 && handles.count >= waits.count)
        }
    }

    @Test("Waits whose journeys have expired are removed, and a full table takes only known steps")
    func forgetsExpiredWaits() {
        let (waits, now) = (PollWaits(), Date(timeIntervalSince1970: 1000))
        let wait = PollingWait(milliseconds: 1000, from: now)
        for number in 0..<5000 {
            waits.keep(PolledWait(key: "\(number)", wait: wait, end: now.addingTimeInterval(10)), at: now)
        }
        #expect(waits["0"] == wait && waits["4999"] == wait && waits["5000"] == nil)
        let later = now.addingTimeInterval(11)
        for number in 5000..<15_000 {
            waits.keep(PolledWait(key: "\(number)", wait: wait, end: later.addingTimeInterval(10)), at: later)
        }
        #expect(waits["0"] == nil && waits["14999"] == wait)
        for number in 15_000..<55_100 {
            waits.keep(PolledWait(key: "\(number)", wait: wait, end: later.addingTimeInterval(10)), at: later)
        }
        #expect(waits.hasRoom(for: "20000") && !waits.hasRoom(for: "new"))
    }
}
