import HTTPTypes
import NIOCore
import NIOHTTPTypes
import SignetCore

/// Tells in each answer's `Date` what time it is by the desk's clock: clients judge tokens by it, so it has to be the clock that those are
/// signed by. Hummingbird writes the machine's.
final class DateHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let clock: AdjustableClock

    init(_ clock: AdjustableClock) { self.clock = clock }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        head.headerFields[.date] = HTTPDate.text(of: clock.now)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
