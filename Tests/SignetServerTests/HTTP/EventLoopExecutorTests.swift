import Hummingbird
import NIOCore
import Testing

@testable import SignetServer

@Suite("The executor of a connection")
struct EventLoopExecutorTests {
    @Test("Tasks run on the event loop of their connection, also after they have waited")
    func runsOnEventLoop() async {
        let loop = EventLoopGroupProvider.singleton.eventLoopGroup.next()
        let places = await withTaskExecutorPreference(EventLoopExecutor(loop)) {
            var places = [loop.inEventLoop]
            await Task.detached { await Task.yield() }.value
            places.append(loop.inEventLoop)
            async let child = loop.inEventLoop
            places.append(await child)
            return places
        }
        #expect(places == [true, true, true])
    }
}
