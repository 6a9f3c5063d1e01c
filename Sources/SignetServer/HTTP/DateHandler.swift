import HTTPTypes
import NIOCore
import NIOHTTPTypes
import SignetCore

/// Sets each response's `Date` from the server's adjustable clock.
///
/// Clients use `Date` to check the lifetime of tokens, so it must be the clock that tokens are issued by. Hummingbird would write
/// the machine's time.
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
